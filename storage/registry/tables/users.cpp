#include "storage/registry/tables/users.hpp"

#include "runtime/text.hpp"
#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

key_of email_key(std::string_view email) {
    return key_of(table::user_by_email).text(runtime::to_lower(email));
}

key_of username_key(std::string_view username) {
    return key_of(table::user_by_username).text(runtime::to_lower(username));
}

}  // namespace

template <>
struct description<schemas::user> {
    static constexpr table rows = table::user;
    static void index(const schemas::user& row, index_entries& entries) {
        if (row.removed) return;
        entries.lead(email_key(row.email), row.id);
        entries.lead(username_key(row.username), row.id);
    }
};

template class keyed_table<schemas::user, schemas::user_id>;

std::optional<schemas::user_id> users::with_email(const state::state_view& state, std::string_view email) {
    return id_at<schemas::user_id>(state, email_key(email));
}

std::optional<schemas::user_id> users::named(const state::state_view& state, std::string_view username) {
    return id_at<schemas::user_id>(state, username_key(username));
}

}  // namespace herald::storage::registry::tables
