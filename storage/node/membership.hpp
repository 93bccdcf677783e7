// What a node reads from the other nodes' heartbeats (design.md §1 "Heartbeat"). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "schemas/commands.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage {

/// Live nodes whose rolling hash can be compared with this node's, this node among `agree`.
struct hash_votes {
    std::size_t agree = 1;
    std::size_t differ = 0;
    std::uint64_t offset = 0;  // the highest at which one differs
};

/// A node counts while its newest heartbeat is not older than limits::claim_lapse_ms of log time. `own_hash`
/// gives this node's hash at an offset, as far as it is known.
hash_votes compare_hashes(const applied_state&, std::string_view own_name,
                          const std::function<std::optional<std::string>(std::uint64_t)>& own_hash);

/// Whether the node that holds a claim has fallen silent, or began anew without it.
bool is_lapsed(const applied_state&, const schemas::claim_row&);

/// Due time of the first timer; nothing when none is set.
std::optional<std::int64_t> next_timer_ms(const state_view&);

}  // namespace herald::storage
