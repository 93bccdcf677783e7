// A node's newest records, as far as it needs them to notice that the log, or another node, has different
// ones.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/crypto.hpp"
#include "storage/registry/engine/engine.hpp"

namespace herald::storage::node {

/// The newest limits::records_remembered_max records, about a megabyte. One thread.
class record_ring {
  public:
    struct entry {
        std::uint64_t offset = UINT64_MAX;  // for a slot that was never used
        runtime::sha256_digest record_hash{};
        runtime::sha256_digest state_hash{};  // the state's rolling hash after the record
    };

    record_ring();
    /// Adds the record that was just applied; offsets ascend.
    void add(const registry::engine::engine_position&);
    /// nullptr when it is not remembered.
    const entry* find(std::uint64_t offset) const;
    bool is_empty() const noexcept { return x_newest == UINT64_MAX; }
    std::uint64_t oldest() const noexcept { return x_oldest; }
    /// Offset of the first remembered record at or after `offset`, which must not be above the newest.
    std::uint64_t first_from(std::uint64_t offset) const;

  private:
    std::vector<entry> x_slots;
    std::uint64_t x_oldest = 0;
    std::uint64_t x_newest = UINT64_MAX;
};

}  // namespace herald::storage::node
