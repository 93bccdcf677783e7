// What happened to the stages of endpoints, an entry a step; the newest limits::stage_log_entries_max of
// each.
#pragma once

#include <cstdint>
#include <string_view>

#include "schemas/endpoints.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

class stage_log final {
  public:
    /// Numbers the entry, and drops the oldest one when there are too many. A message longer than
    /// limits::stage_log_message_bytes_max is cut to its beginning.
    static void add(state::state_changes&, schemas::endpoint_stage_id, std::int64_t time_ms,
                    std::string_view message, schemas::user_id author = {});
    /// The stage's entries by ascending number, from `from` on.
    static void each(const state::state_view&, schemas::endpoint_stage_id, std::uint64_t from,
                     const visitor<schemas::stage_log_entry>&);
    /// Erases the stage's oldest entries; returns how many there were, at most `most`.
    static std::size_t erase_oldest(state::state_changes&, schemas::endpoint_stage_id, std::size_t most);
};

}  // namespace herald::storage::registry::tables
