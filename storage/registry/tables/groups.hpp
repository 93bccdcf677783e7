// Organisations, their roles and groups, and who is a member of which group.
#pragma once

#include "schemas/identity.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::organization, schemas::organization_id>;
extern template class keyed_table<schemas::role, schemas::role_id>;
extern template class keyed_table<schemas::group, schemas::group_id>;

class organizations final : public keyed_table<schemas::organization, schemas::organization_id> {};
class roles final : public keyed_table<schemas::role, schemas::role_id> {};
class groups final : public keyed_table<schemas::group, schemas::group_id> {};

/// Pairs of a group and a user, found from either side.
class members final {
  public:
    static bool has(const state::state_view&, schemas::group_id, schemas::user_id);
    static void put(state::state_changes&, schemas::group_id, schemas::user_id);
    static void erase(state::state_changes&, schemas::group_id, schemas::user_id);
    /// The group's users by ascending id, from `from` on (0: from the first).
    static void each_user_of(const state::state_view&, schemas::group_id, schemas::user_id from,
                             const visitor<schemas::user_id>&);
    /// The user's groups by ascending id.
    static void each_group_of(const state::state_view&, schemas::user_id, const visitor<schemas::group_id>&);
};

}  // namespace herald::storage::registry::tables
