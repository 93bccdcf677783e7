// What becomes of webhooks whose receivers fail.
#pragma once

#include "schemas/commands/webhooks.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {

/// Errors: aborted when the sender no longer holds the job. A webhook that is gone or has changed since is
/// left unchanged.
answer apply(context::rule_context&, const schemas::commands::webhook_health&);

/// As if it had never failed.
void forget_failures(schemas::webhook&);

}  // namespace herald::storage::registry::rules
