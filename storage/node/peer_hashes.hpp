// What the other nodes say in their heartbeats of their newest record, compared with what this node has of it
// (design.md §1 "Heartbeat").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "runtime/mutex.hpp"
#include "schemas/commands/nodes.hpp"
#include "storage/node/record_ring.hpp"

namespace herald::storage::node {

/// Live nodes whose state can be compared with this node's, this node among `agree`.
struct hash_votes {
    std::size_t agree = 1;
    std::size_t differ = 0;
    std::uint64_t offset = 0;  // the highest at which one differs

    friend bool operator==(const hash_votes&, const hash_votes&) = default;
};

/// A difference alone does not say who is wrong: the node must read its own records in the log again first
/// (is_in_doubt). A state has a vote once its node has done that: who holds another log than this finds it
/// out then. Thread-safe; a node counts until its newest heartbeat is older than limits::claim_lapse_ms of
/// log time.
class peer_hashes {
  public:
    explicit peer_hashes(std::string own_name) : x_own_name(std::move(own_name)) {}

    /// A heartbeat that lies in the log at `offset`, applied at log time `time_ms`; in order. False: one of
    /// this node's own.
    bool hear(const schemas::commands::node_heartbeat&, std::uint64_t offset, std::int64_t time_ms,
              const record_ring& own);
    /// Whether somebody differs who did not when the log was last read again.
    bool is_in_doubt() const;
    /// Every remembered record was read again and is the log's.
    void records_are_the_logs();
    /// The log may have become another.
    void doubt();
    /// For the own heartbeat: somebody differs, and it is not because of this node's records.
    bool vouches() const;

    hash_votes votes() const;
    /// Whether the node's newest heartbeat could be compared, and no doubt is left on either side.
    bool has_compared(const std::string& node) const;

  private:
    enum class comparison : std::uint8_t {
        unknown,  // this node does not remember the record
        equal,
        state_differs,   // after the same record
        record_differs,  // the node holds another log
    };
    struct peer {
        std::int64_t time_ms = 0;
        std::uint64_t offset = 0;
        comparison said = comparison::unknown;
        bool is_settled = false;  // this node has read its own records again since
        bool vouches = false;     // the other has
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
