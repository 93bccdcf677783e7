// Compares what other nodes report of their newest record in heartbeats with what this node has of that
// record (design.md §1 "Heartbeat").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "runtime/mutex.hpp"
#include "schemas/commands/nodes.hpp"
#include "storage/node/record_ring.hpp"

namespace herald::storage::node {

/// Live nodes whose state can be compared with this node's; this node counts among `agree`.
struct hash_votes {
    std::size_t agree = 1;
    std::size_t differ = 0;
    std::uint64_t offset = 0;  // the highest offset at which some node differs

    friend bool operator==(const hash_votes&, const hash_votes&) = default;
};

/// A difference alone does not say who is wrong: the node must first read its own records in the log again
/// (is_in_doubt). A state gets a vote once its node has done that: a node that holds another log finds it out
/// that way. Thread-safe; a node counts until its newest heartbeat is older than limits::claim_lapse_ms of
/// log time.
class peer_hashes {
  public:
    explicit peer_hashes(std::string own_name) : x_own_name(std::move(own_name)) {}

    /// Takes a heartbeat that is in the log at `offset` and was applied at log time `time_ms`; called in
    /// order. False: it is one of this node's own.
    bool hear(const schemas::commands::node_heartbeat&, std::uint64_t offset, std::int64_t time_ms,
              const record_ring& own);
    /// Whether some node differs that did not when the log was last read again.
    bool is_in_doubt() const;
    /// Every remembered record was read again and matches the log.
    void records_are_the_logs();
    /// The log may have been replaced by another.
    void doubt();
    /// For the own heartbeat: another node differs, but not because of this node's records.
    bool vouches() const;

    hash_votes votes() const;
    /// Whether the node's newest heartbeat could be compared, with no doubt left on either side.
    bool has_compared(const std::string& node) const;

  private:
    enum class comparison : std::uint8_t {
        unknown,  // this node no longer remembers the record
        equal,
        state_differs,   // after the same record
        record_differs,  // the node holds another log
    };
    struct peer {
        std::int64_t time_ms = 0;
        std::uint64_t offset = 0;
        comparison said = comparison::unknown;
        bool is_settled = false;  // this node has read its own records again since then
        bool vouches = false;     // the other node has
        bool differs() const {
            return said == comparison::state_differs || said == comparison::record_differs;
        }
        bool votes_against() const { return said == comparison::state_differs && is_settled && vouches; }
    };

    static comparison compare(const schemas::commands::node_heartbeat&, std::uint64_t offset,
                              const record_ring& own);

    const std::string x_own_name;
    mutable runtime::mutex x_mutex;
    std::map<std::string, peer> x_peers GUARDED_BY(x_mutex);
};

}  // namespace herald::storage::node
