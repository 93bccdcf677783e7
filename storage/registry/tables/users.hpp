// Users; found by id and by e-mail.
#pragma once

#include <string_view>

#include "schemas/identity.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::user, schemas::user_id>;

class users final : public keyed_table<schemas::user, schemas::user_id> {
  public:
    /// The user with this e-mail, ignoring case.
    static std::optional<schemas::user_id> with_email(const state::state_view&, std::string_view email);
};

/// The owner of each username, ignoring case. Apart from the users' table, since older logs have users
/// without (storage/registry/rules/users.cpp brings them).
class usernames final {
  public:
    static std::optional<schemas::user_id> find(const state::state_view&, std::string_view username);
    static void put(state::state_changes&, const schemas::user&);
    /// Erases the entry if it is this user's.
    static void erase(state::state_changes&, const schemas::user&);
};

}  // namespace herald::storage::registry::tables
