// The outbox: the events of each partition of the event topics, by sequence, by time and by id; the last
// sequences assigned; and how far each partition is published.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/webhooks.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// A partition of an event topic.
struct output_partition {
    std::string topic;
    std::uint64_t partition = 0;

    auto operator<=>(const output_partition&) const = default;
};

class outbox final {
  public:
    /// Assigns the event its sequences, in its partition and for its resource, and writes it.
    static void add(state::state_changes&, const output_partition&, schemas::event&);
    /// For a resource that is gone: its events are no longer counted. Existing ones stay.
    static void forget(state::state_changes&, schemas::resource_type, std::string_view resource_id);
    static std::optional<schemas::event> find(const state::state_view&, const output_partition&,
                                              std::uint64_t sequence);
    /// By its id, also one of an earlier generation; empty when it is not kept.
    static std::optional<schemas::event> find(const state::state_view&, std::string_view event_id);

    struct summary {
        schemas::event_summary event;
        std::int64_t time_ms = 0;
        std::string_view place;  // for each_from
    };
    using summary_visitor = std::function<bool(const summary&)>;
    /// Visits all kept events by time, from `time_ms` on, or behind the place of one; returns false to stop.
    static void each_from(const state::state_view&, std::int64_t time_ms, std::string_view after,
                          const summary_visitor&);
    /// Visits the partition's events by ascending sequence, beginning at `from`, with the bytes of their
    /// rows; returns false to stop.
    using event_visitor = std::function<bool(const schemas::event&, std::string_view bytes)>;
    static void each_of(const state::state_view&, const output_partition&, std::uint64_t from,
                        const event_visitor&);

    /// Visits one sequence for each partition that has one.
    using sequence_visitor = std::function<void(const output_partition&, std::uint64_t sequence)>;
    /// The last sequence assigned.
    static void each_last(const state::state_view&, const sequence_visitor&);
    /// The last sequence known to be published.
    static void each_published(const state::state_view&, const sequence_visitor&);
    /// 0 for none.
    static std::uint64_t published(const state::state_view&, const output_partition&);
    /// A sequence that is not above the known one changes nothing.
    static void put_published(state::state_changes&, const output_partition&, std::uint64_t sequence);

    /// Erases events that are published and were written at `until_ms` or before; looks at `events_max` of
    /// them, beginning after `after`. If it looked at that many, returns the place to continue after.
    static std::optional<std::string> trim(state::state_changes&, std::int64_t until_ms,
                                           std::string_view after, std::size_t events_max);

    // Events of earlier generations, which a backup has brought: they are published, and kept for as long as
    // their time says, so that what was held or dead can be sent again. They stand under the topic
    // "GENERATION/TOPIC".
    /// Whether it is the key of such an event.
    static bool is_of_earlier(std::string_view key) noexcept;
    /// Under which key a row of this generation's outbox is carried into the next; empty for an event that
    /// nobody was to hear.
    static std::optional<std::string> earlier_key(std::string_view key, std::string_view row,
                                                  std::uint32_t generation);
    /// Writes a row with such a key.
    static void put_earlier(state::state_changes&, const std::string& key, const std::string& row);
};

}  // namespace herald::storage::registry::tables
