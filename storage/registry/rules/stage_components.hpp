// The components of stages, and what may not go while it is one (wire.md §3, §5).
#pragma once

#include "schemas/endpoints.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Writes the changed stage with a new time, and keeps which builds are deployed. A component in error
/// without traffic holds nothing: its build may be gone while the stage still lists it.
void store_stage(context::rule_context&, const schemas::endpoint_stage& before,
                 schemas::endpoint_stage after);
/// The stage is to be erased.
void forget_components(context::rule_context&, const schemas::endpoint_stage&);

/// Errors, of all three: failed_precondition naming an endpoint that has a build of it.
result<void> check_is_not_deployed(const state::state_view&, const schemas::model_version&);
result<void> check_is_not_deployed(const state::state_view&, const schemas::registered_model&);
result<void> check_is_not_deployed(const state::state_view&, const schemas::workspace&);

}  // namespace herald::storage::registry::rules
