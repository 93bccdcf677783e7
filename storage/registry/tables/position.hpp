// How far a state is applied: one row, written together with the rows it belongs to. It is not part of the
// hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schemas/describe.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

struct engine_position {
    std::uint64_t next_offset = 0;  // of the next record to apply
    std::int64_t time_ms = 0;
    std::string hash;  // rolling: H(previous ‖ record ‖ mutations); empty before the first record
    std::uint64_t last_record_offset = 0;
    std::string last_record_hash;  // SHA-256 of the newest applied record: reveals a re-created log
    std::uint64_t log_bytes = 0;   // of all records up to here

    HERALD_DESCRIBE(next_offset, time_ms, hash, last_record_offset, last_record_hash, log_bytes);
};

class positions final {
  public:
    /// Empty until the first record is applied.
    static std::optional<engine_position> find(const state::state_view&);
    static void put(state::state_changes&, const engine_position&);
};

}  // namespace herald::storage::registry::tables
