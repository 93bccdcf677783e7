// What the publisher needs from the registry's state, and nothing else. storage/ implements it over its
// tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "schemas/webhooks.hpp"

namespace herald::events {

/// An event that waits to be published: one record of its output partition.
struct outbox_row {
    std::uint64_t sequence = 0;  // dense within (generation, partition), starting at 1
    std::string key;             // the resource's id
    std::string value;           // the binary form of schemas::event
};

/// A webhook's row after a change; empty when it was deleted.
struct subscriber_change {
    std::uint64_t offset = 0;  // of the command that made the change
    schemas::webhook_id webhook_id;
    std::optional<schemas::subscriber> row;
};

/// The applied state at the moment of the call; a later call sees the same state or a newer one. All calls
/// come from the publisher's thread and must not block on the log. Partitions are always from
/// output_partitions().
class outbox {
  public:
    virtual ~outbox() = default;

    /// The generation of the log that the state was made from (GENESIS). Rows and positions below belong to
    /// it.
    virtual std::uint32_t generation() const = 0;
    /// All partitions of every event topic (event_topic.hpp), as many as GENESIS set; never changes.
    virtual std::vector<log::topic_partition> output_partitions() const = 0;
    /// The highest sequence of the partition that any publisher's heartbeat reported; 0: none yet.
    virtual std::uint64_t published(const log::topic_partition&) const = 0;
    /// Rows with sequence ≥ `from`, ascending, at most `rows_max`; stops once the rows so far have
    /// `bytes_max` or more together. Sequences are missing only at or below published(), where they were
    /// trimmed. Called for every partition at every wake(), so it must be cheap when there is nothing.
    virtual std::vector<outbox_row> rows(const log::topic_partition&, std::uint64_t from,
                                         std::size_t rows_max, std::size_t bytes_max) const = 0;

    /// Offset of the newest change of any webhook; 0: none yet.
    virtual std::uint64_t last_subscriber_change() const = 0;
    /// Changes with offset > `after`, ascending by offset, about `changes_max` of them: changes of one offset
    /// are never separated. For a webhook that changed several times the newest change is enough.
    virtual std::vector<subscriber_change> subscriber_changes(std::uint64_t after,
                                                              std::size_t changes_max) const = 0;
    /// All existing webhooks, including disabled ones, in any order.
    virtual std::vector<schemas::subscriber> subscribers() const = 0;
};

}  // namespace herald::events
