// A build is made where one is asked for, and where a scan needs one.
#pragma once

#include "schemas/commands/builds.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Writes the build and tells of it. It ends at once: as finished, or in error with the reason in its
/// message. Errors: invalid_argument; failed_precondition at limits::builds_per_version_max builds of the
/// version in the workspace.
result<schemas::build> add_build(context::rule_context&, const schemas::workspace&,
                                 const schemas::model_version&, const schemas::commands::create_build&);

}  // namespace herald::storage::registry::rules
