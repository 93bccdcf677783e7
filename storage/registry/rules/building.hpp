// What builds and their scans have in common: who may ask for them, and how a build is made.
#pragma once

#include "schemas/commands/builds.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Builds and requests for scans need CREATE or DEPLOY on ENDPOINT in the build's workspace. Errors:
/// permission_denied.
result<void> require_building(const context::rule_context&, const schemas::workspace&);

/// Whether Herald can make a build of the version: it has a model with bytes, and there is a node that checks
/// models.
bool can_be_built(const context::rule_context&, const schemas::model_version&);

/// Writes the build and emits its event. A build whose image was made elsewhere ends at once, and one that
/// cannot be made, in error with the reason in its message. Herald makes others of the version's
/// model: they are in status building until finish_build, or limits::build_ms_max. Errors:
/// invalid_argument; failed_precondition when the version already has limits::builds_per_version_max builds
/// in the workspace.
result<schemas::build> add_build(context::rule_context&, const schemas::workspace&,
                                 const schemas::model_version&, const schemas::commands::create_build&);

}  // namespace herald::storage::registry::rules
