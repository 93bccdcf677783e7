// Where each webhook's deliveries go: the compacted topic `subscribers`, kept in memory (design.md §2-3).
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

/// Reads the topic from its start and follows it. Keeps the highest revision of each webhook; within a
/// generation a tombstone is final, since ids are never reused. Lives on the scheduler's thread; all calls
/// come from there. Holds one row for each webhook. If the log is out of reach, only at_end_ms() shows it.
class subscriber_table {
  public:
    enum class presence : std::uint8_t { unknown, present, deleted };

    virtual ~subscriber_table() = default;
    virtual presence presence_of(schemas::webhook_id) const = 0;
    /// The row; null when there is none. Valid until the scheduler's next task.
    virtual const schemas::subscriber* find(schemas::webhook_id) const = 0;
    virtual std::size_t disabled_count() const = 0;
    /// Once at_end_ms() has a value, every change of a webhook at or below the head is in the table. Empty
    /// head while the topic lacks rows that its head counts.
    virtual schemas::subscribers_head head() const = 0;
    /// The latest steady time, to about a second, at which nothing was left to read and the log confirmed it;
    /// empty until the end was reached for the first time.
    virtual std::optional<std::int64_t> at_end_ms() const = 0;
    /// `notify` is called on the scheduler's thread when rows or the head have changed and when the end is
    /// reached for the first time. Set once, before the first task runs.
    virtual void on_change(std::function<void()> notify) = 0;
};

/// Starts reading at once; ends when its last owner releases it, on the scheduler's thread or while the
/// scheduler is not running. Log and scheduler must outlive it.
std::shared_ptr<subscriber_table> make_subscriber_table(log::partitioned_log&, runtime::scheduler&);

/// True when every change of a webhook up to this place is in the table; then an unknown webhook was deleted.
constexpr bool reaches(const schemas::subscribers_head& head, std::uint32_t generation,
                       std::uint64_t offset) {
    return head.generation != generation ? head.generation > generation : head.offset >= offset;
}

}  // namespace herald::events
