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
    /// The user with this username, ignoring case.
    static std::optional<schemas::user_id> named(const state::state_view&, std::string_view username);
};

}  // namespace herald::storage::registry::tables
