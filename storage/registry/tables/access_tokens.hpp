// Access tokens of the stages of endpoints; found by id, by stage and by the hash of their value there.
#pragma once

#include <string_view>

#include "schemas/endpoints.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::access_token, schemas::access_token_id>;

class access_tokens final : public keyed_table<schemas::access_token, schemas::access_token_id> {
  public:
    /// The stage's token whose value has this SHA-256 (32 bytes).
    static std::optional<schemas::access_token_id> with_hash(const state::state_view&,
                                                             schemas::endpoint_stage_id,
                                                             std::string_view hash);
    /// The stage's tokens by ascending id, from `from` on (0: from the first). Those of a stage that was
    /// deleted may still be swept.
    static void each_of(const state::state_view&, schemas::endpoint_stage_id, schemas::access_token_id from,
                        const visitor<schemas::access_token_id>&);
};

}  // namespace herald::storage::registry::tables
