// A version's history: entries of what was done with it, and of what became of it.
#pragma once

#include <string>

#include "schemas/registry.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// An entry of the version's history, not yet written; its id is assigned.
schemas::activity new_activity(context::rule_context&, schemas::version_id, schemas::user_id author,
                               const std::string& comment);

}  // namespace herald::storage::registry::rules
