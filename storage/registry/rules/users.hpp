// Writing users, groups and workspaces with their indexes.
#pragma once

#include "schemas/identity.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

void put_user(state::state_changes&, const schemas::user&);
void put_workspace(state::state_changes&, const schemas::workspace&);
void add_member(state::state_changes&, schemas::group_id, schemas::user_id);

}  // namespace herald::storage::registry::rules
