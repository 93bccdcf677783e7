// Where each webhook's deliveries go: the compacted topic `subscribers`, held in memory (design.md §2-3).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/log/log.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/webhooks.hpp"

namespace herald::events {

/// The key of schemas::subscribers_head; every other key is a webhook's id in decimal.
inline constexpr std::string_view subscribers_head_key = "head";
inline std::string subscriber_key(schemas::webhook_id id) { return std::to_string(id.value); }

/// Reads the topic from its start and follows it. Keeps the highest revision of each webhook; a tombstone is
/// final within a generation, for ids are never given out twice. Lives on the scheduler's thread, all calls
/// from there; holds one row for each webhook. A log out of reach shows in at_end_ms() only.
class subscriber_table {
  public:
    enum class presence : std::uint8_t { unknown, present, deleted };

    virtual ~subscriber_table() = default;
    virtual presence presence_of(schemas::webhook_id) const = 0;
    /// The row; null unless present. Valid until the scheduler's next task.
    virtual const schemas::subscriber* find(schemas::webhook_id) const = 0;
    virtual std::size_t disabled_count() const = 0;
    /// Every change of a webhook at or below the head is in the table once at_end_ms() has a value. The head
    /// of nothing while the topic lacks rows that it counts.
    virtual schemas::subscribers_head head() const = 0;
    /// Steady time at which nothing was left to read and the log was there to say so, the newest one, to
    /// about a second; nothing before the end was reached once.
    virtual std::optional<std::int64_t> at_end_ms() const = 0;
    /// `notify` is called on the scheduler's thread after rows or the head changed and when the end is
    /// reached for the first time. Set once, before the first task runs.
    virtual void on_change(std::function<void()> notify) = 0;
};

/// Starts to read at once, ends when the last owner lets go, on the scheduler's thread or while that does not
/// run. Log and scheduler must outlive it.
std::shared_ptr<subscriber_table> make_subscriber_table(log::partitioned_log&, runtime::scheduler&);

/// True when every change of a webhook up to this place is in the table: an unknown webhook was deleted then.
constexpr bool reaches(const schemas::subscribers_head& head, std::uint32_t generation,
                       std::uint64_t offset) {
    return head.generation != generation ? head.generation > generation : head.offset >= offset;
}

}  // namespace herald::events
