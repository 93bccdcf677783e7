#include "storage/registry/tables/sessions.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string by_key(schemas::user_id user, std::string_view key_hash) {
    return key_of(table::session_by_key).number(user).text(key_hash);
}

}  // namespace

template <>
struct description<schemas::session> {
    static constexpr table rows = table::session;
    static void index(const schemas::session& row, index_entries& entries) {
        entries.mark(key_of(table::session_of_user).number(row.user_id).number(row.id));
        entries.lead(by_key(row.user_id, row.key_hash), row.id);
    }
};

template class keyed_table<schemas::session, schemas::session_id>;

bool sessions::has_key(const state::state_view& state, schemas::user_id user, std::string_view key_hash) {
    return has_row(state, by_key(user, key_hash));
}

void sessions::each_of(const state::state_view& state, schemas::user_id user,
                       const visitor<schemas::session_id>& visit) {
    each_id_under(state, key_of(table::session_of_user).number(user), schemas::session_id{}, visit);
}

}  // namespace herald::storage::registry::tables
