// Workspaces; found by id and by name.
#pragma once

#include <string_view>

#include "schemas/identity.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::workspace, schemas::workspace_id>;

class workspaces final : public keyed_table<schemas::workspace, schemas::workspace_id> {
  public:
    static std::optional<schemas::workspace_id> named(const state::state_view&, std::string_view name);
    /// The first workspace whose permissions name the role, or the group.
    static std::optional<schemas::workspace_id> using_role(const state::state_view&, schemas::role_id);
    static std::optional<schemas::workspace_id> using_group(const state::state_view&, schemas::group_id);
};

}  // namespace herald::storage::registry::tables
