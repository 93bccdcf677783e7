#include "storage/node/peer_hashes.hpp"

#include <algorithm>

#include "runtime/mutex.hpp"
#include "schemas/commands/limits.hpp"

namespace herald::storage::node {

peer_hashes::comparison peer_hashes::compare(const schemas::commands::node_heartbeat& beat,
                                             std::uint64_t offset, const record_ring& own) {
    // It has applied records that the log holds only later, or no longer.
    if (beat.applied_offset >= offset) return comparison::record_differs;
    const record_ring::entry* mine = own.find(beat.applied_offset);
    if (mine == nullptr) return comparison::unknown;
    if (runtime::as_bytes(mine->record_hash) != beat.record_hash) return comparison::record_differs;
    if (runtime::as_bytes(mine->state_hash) != beat.state_hash) return comparison::state_differs;
    return comparison::equal;
}

bool peer_hashes::hear(const schemas::commands::node_heartbeat& beat, std::uint64_t offset,
                       std::int64_t time_ms, const record_ring& own) {
    const runtime::lock_guard lock(x_mutex);
    std::erase_if(x_peers, [&](const auto& one) {
        return time_ms - one.second.time_ms > limits::claim_lapse_ms || (beat.last && one.first == beat.node);
    });
    if (beat.node == x_own_name) return false;
    if (beat.last) return true;
    peer& from = x_peers[beat.node];
    const comparison says = compare(beat, offset, own);
    from.is_settled = from.is_settled && from.said == says;
    from.said = says;
    from.vouches = beat.vouches;
    from.time_ms = time_ms;
    from.offset = beat.applied_offset;
    return true;
}

bool peer_hashes::is_in_doubt() const {
    const runtime::lock_guard lock(x_mutex);
    return std::any_of(x_peers.begin(), x_peers.end(),
                       [](const auto& one) { return one.second.differs() && !one.second.is_settled; });
}

void peer_hashes::records_are_the_logs() {
    const runtime::lock_guard lock(x_mutex);
    for (auto& [name, one] : x_peers) one.is_settled = true;
}

void peer_hashes::doubt() {
    const runtime::lock_guard lock(x_mutex);
    for (auto& [name, one] : x_peers) one.is_settled = false;
}

bool peer_hashes::vouches() const {
    const runtime::lock_guard lock(x_mutex);
    return std::any_of(x_peers.begin(), x_peers.end(),
                       [](const auto& one) { return one.second.differs() && one.second.is_settled; });
}

hash_votes peer_hashes::votes() const {
    const runtime::lock_guard lock(x_mutex);
    hash_votes votes;
    for (const auto& [name, one] : x_peers) {
        if (one.said == comparison::equal) ++votes.agree;
        if (!one.votes_against()) continue;
        ++votes.differ;
        votes.offset = std::max(votes.offset, one.offset);
    }
    return votes;
}

bool peer_hashes::has_compared(const std::string& node) const {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_peers.find(node);
    if (found == x_peers.end()) return false;
    const peer& one = found->second;
    return one.said == comparison::equal || one.votes_against() ||
           (one.said == comparison::record_differs && one.is_settled);
}

}  // namespace herald::storage::node
