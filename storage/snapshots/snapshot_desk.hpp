// Snapshots as an administrator sees them: which there are, and that one be taken now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/error.hpp"

namespace herald::storage::snapshots {

struct snapshot_row {
    std::string name;
    std::uint32_t generation = 0;
    std::uint64_t next_offset = 0;
    std::int64_t time_ms = 0;  // log time
    std::uint64_t bytes = 0;
    std::string digest;  // SHA-256 of the list of its files with their digests
};

/// Thread-safe.
class snapshot_desk {
  public:
    virtual ~snapshot_desk() = default;
    /// Begins one, and does not wait for it. Errors: already_exists while one is being taken;
    /// failed_precondition when this node must take none; unavailable when the disk is low, or the node ends.
    virtual result<void> begin() = 0;
    virtual bool is_taking() const = 0;
    /// The newest first; those whose list cannot be read are left out. Blocks. Errors: unavailable.
    virtual result<std::vector<snapshot_row>> list() const = 0;
};

}  // namespace herald::storage::snapshots
