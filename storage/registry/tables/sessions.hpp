// Sessions; found by id, by user and by the user's key.
#pragma once

#include <optional>
#include <string_view>

#include "schemas/identity.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::session, schemas::session_id>;

class sessions final : public keyed_table<schemas::session, schemas::session_id> {
  public:
    /// The user's session with a key of this hash (32 bytes).
    static std::optional<schemas::session_id> with_key(const state::state_view&, schemas::user_id,
                                                       std::string_view key_hash);
    /// The user's sessions by ascending id.
    static void each_of(const state::state_view&, schemas::user_id, const visitor<schemas::session_id>&);
};

}  // namespace herald::storage::registry::tables
