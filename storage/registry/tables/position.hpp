// How far a state is applied: one row, written together with the rows it belongs to. It is not part of the
// hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

struct engine_position {
    std::uint64_t next_offset = 0;  // of the next record to apply
    std::int64_t time_ms = 0;
    std::string hash;  // rolling: H(previous ‖ record ‖ mutations); empty before the first record
    std::uint64_t last_record_offset = 0;
    std::string last_record_hash;  // SHA-256 of the newest applied record: reveals a re-created log
    std::uint64_t log_bytes = 0;   // of all records up to here

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "next_offset", self.next_offset);
        field(2, "time_ms", self.time_ms);
        field(3, "hash", self.hash);
        field(4, "last_record_offset", self.last_record_offset);
        field(5, "last_record_hash", self.last_record_hash);
        field(6, "log_bytes", self.log_bytes);
    }
};

class positions final {
  public:
    /// Empty until the first record is applied.
    static std::optional<engine_position> find(const state::state_view&);
    static void put(state::state_changes&, const engine_position&);
};

}  // namespace herald::storage::registry::tables
