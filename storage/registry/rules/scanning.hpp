// What other rules must know of running scans.
#pragma once

#include "schemas/deployment.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Of a scan that is running: nobody waits for its report any more.
void cancel_deadline(context::rule_context&, const schemas::scan&);

/// The build has been made: a scan that was asked for meanwhile is requested now.
void begin_waiting_scan(context::rule_context&, const schemas::build&);
/// It could not be made: that scan ends in error, and the version's history says so.
void end_waiting_scan(context::rule_context&, const schemas::build&);

}  // namespace herald::storage::registry::rules
