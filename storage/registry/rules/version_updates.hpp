// Updates of model versions: PUT, PATCH, PATCH …/full_body and the calls that log (wire.md §3).
#pragma once

#include "schemas/commands/versions.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {

answer apply(context::rule_context&, const schemas::commands::update_version&);
answer apply(context::rule_context&, const schemas::commands::update_version_members&);
answer apply(context::rule_context&, const schemas::commands::log_version_parts&);

}  // namespace herald::storage::registry::rules
