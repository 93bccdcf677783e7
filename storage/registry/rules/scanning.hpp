// What other rules must know of running scans.
#pragma once

#include "schemas/deployment.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Of a scan that is running: nobody waits for its report any more.
void cancel_deadline(context::rule_context&, const schemas::scan&);

}  // namespace herald::storage::registry::rules
