#include "storage/registry/tables/groups.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string member_key(schemas::group_id group, schemas::user_id user) {
    return key_of(table::group_member).number(group).number(user);
}

}  // namespace

template <>
struct description<schemas::organization> {
    static constexpr table rows = table::organization;
};

template <>
struct description<schemas::role> {
    static constexpr table rows = table::role;
};

template <>
struct description<schemas::group> {
    static constexpr table rows = table::group;
};

template class keyed_table<schemas::organization, schemas::organization_id>;
template class keyed_table<schemas::role, schemas::role_id>;
template class keyed_table<schemas::group, schemas::group_id>;

bool members::has(const state::state_view& state, schemas::group_id group, schemas::user_id user) {
    return has_row(state, member_key(group, user));
}

void members::put(state::state_changes& state, schemas::group_id group, schemas::user_id user) {
    HERALD_ASSERT(group && user);
    state.put(member_key(group, user), "");
    state.put(key_of(table::user_group).number(user).number(group), "");
}

void members::erase(state::state_changes& state, schemas::group_id group, schemas::user_id user) {
    state.erase(member_key(group, user));
    state.erase(key_of(table::user_group).number(user).number(group));
}

void members::each_user_of(const state::state_view& state, schemas::group_id group, schemas::user_id from,
                           const visitor<schemas::user_id>& visit) {
    each_id_under(state, key_of(table::group_member).number(group), from, visit);
}

void members::each_group_of(const state::state_view& state, schemas::user_id user,
                            const visitor<schemas::group_id>& visit) {
    each_id_under(state, key_of(table::user_group).number(user), schemas::group_id{}, visit);
}

}  // namespace herald::storage::registry::tables
