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

/// An event that waits to be published: a record of its output partition.
struct outbox_row {
    std::uint64_t sequence = 0;  // dense within (generation, partition), from 1 on
    std::string key;             // the resource's id
    std::string value;           // the binary form of schemas::event
};

/// A webhook's row after a change, or none when it was deleted.
struct subscriber_change {
    std::uint64_t offset = 0;  // of the command that made the change
    schemas::webhook_id webhook_id;
    std::optional<schemas::subscriber> row;
};

/// The state as it is applied at the moment of the call; a later call sees the same or a newer one. All calls
/// come from the publisher's thread and must not block on the log. Partitions are always ones of
/// output_partitions().
class outbox {
  public:
    virtual ~outbox() = default;

    /// Of the log that the state was made from (GENESIS). Rows and positions below are those of this
    /// generation.
    virtual std::uint32_t generation() const = 0;
    /// Every event topic (event_topic.hpp) with every partition that GENESIS gave it; never changes.
    virtual std::vector<log::topic_partition> output_partitions() const = 0;
    /// The highest sequence of the partition that a publisher's heartbeat reported; 0: none yet.
    virtual std::uint64_t published(const log::topic_partition&) const = 0;
    /// Rows with sequence ≥ `from`, ascending, at most `rows_max`, and none after those that have `bytes_max`
    /// or more together. Sequences are missing only at or below published(): those were trimmed. Asked for
    /// every partition at every wake(): cheap when there is none.
    virtual std::vector<outbox_row> rows(const log::topic_partition&, std::uint64_t from,
                                         std::size_t rows_max, std::size_t bytes_max) const = 0;

    /// Offset of the newest change of any webhook; 0: none yet.
    virtual std::uint64_t last_subscriber_change() const = 0;
    /// Changes with offset > `after`, ascending by offset, about `changes_max` of them: those of one offset
    /// are never separated. Of a webhook that changed several times the newest change is enough.
    virtual std::vector<subscriber_change> subscriber_changes(std::uint64_t after,
                                                              std::size_t changes_max) const = 0;
    /// Every webhook that exists, disabled ones too, in any order.
    virtual std::vector<schemas::subscriber> subscribers() const = 0;
};

}  // namespace herald::events
