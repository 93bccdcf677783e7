// What the publisher does next, as design.md §2 says: (state, event, now) → actions, without log, thread or
// clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/outbox.hpp"
#include "runtime/error.hpp"
#include "runtime/lasting_trouble.hpp"
#include "runtime/log_events.hpp"
#include "schemas/nodes.hpp"

namespace herald::events {

/// The last record of an output partition that has a sequence.
struct partition_tail {
    std::uint32_t generation = 0;
    std::uint64_t sequence = 0;
};

/// The content of a compacted topic: the newest value of each key that is not deleted.
using topic_content = std::map<std::string, std::string>;

/// Identifies an append, so that its outcome can be matched. Tickets of an older epoch no longer count.
struct append_ticket {
    std::uint64_t epoch = 0;
    std::size_t stream = 0;      // of the output partition; their number for `subscribers`
    std::uint64_t sequence = 0;  // 0 for `subscribers`
    std::size_t bytes = 0;

    friend bool operator==(const append_ticket&, const append_ticket&) = default;
};

namespace action {
/// A strict producer. The previous one, if any, was closed.
struct open_producer {
    friend bool operator==(const open_producer&, const open_producer&) = default;
};
/// Also ends all reads.
struct close_producer {
    friend bool operator==(const close_producer&, const close_producer&) = default;
};
/// Answered by tail_read() or read_failed().
struct read_tail {
    std::uint64_t epoch = 0;
    std::size_t stream = 0;
    log::topic_partition where;
    friend bool operator==(const read_tail&, const read_tail&) = default;
};
/// Answered by subscribers_read() or read_failed().
struct read_subscribers {
    std::uint64_t epoch = 0;
    std::size_t stream = 0;
    friend bool operator==(const read_subscribers&, const read_subscribers&) = default;
};
/// Nobody waits for this read any longer.
struct end_read {
    std::size_t stream = 0;
    friend bool operator==(const end_read&, const end_read&) = default;
};
/// Answered by acknowledged() or append_failed().
struct append {
    append_ticket ticket;
    log::topic_partition where;
    std::string key;
    std::optional<std::string> value;
    friend bool operator==(const append&, const append&) = default;
};
/// Answered by time_passed().
struct wake_at {
    std::int64_t at_ms = 0;
    friend bool operator==(const wake_at&, const wake_at&) = default;
};
}  // namespace action

using publisher_action =
    std::variant<action::open_producer, action::close_producer, action::read_tail, action::read_subscribers,
                 action::end_read, action::append, action::wake_at>;
using publisher_actions = std::vector<publisher_action>;

/// One cursor for each output partition: after reading its tail, appends the rows from there on, in order.
/// For `subscribers`: the changes and, once they are acknowledged, the head. A failed append, or 30 s without
/// progress in a partition that has something in flight, ends the epoch: the producer is closed, and after a
/// pause a new one starts from the tails as they are then. A read that fails or falls silent pauses by itself
/// and delays no other partition. If the log refuses a row (invalid_argument) that was sent alone, a marker
/// with the same sequence replaces it. Keeps no rows except those of subscribers still to be written;
/// unacknowledged appends are bounded for each partition and in total (limits::publisher_*).
class publisher_machine {
  public:
    /// `from` must outlive the machine; start() is the first to call it.
    explicit publisher_machine(const outbox& from) : x_outbox(from) {}

    publisher_actions start(std::int64_t now_ms);
    publisher_actions stop();
    /// There may be new rows or changes.
    publisher_actions woken(std::int64_t now_ms);
    /// The partition's end; empty when it holds no record with a sequence.
    publisher_actions tail_read(std::uint64_t epoch, std::size_t stream, std::optional<partition_tail> tail,
                                std::int64_t now_ms);
    publisher_actions subscribers_read(std::uint64_t epoch, const topic_content& content,
                                       std::int64_t now_ms);
    /// The stream's tail, or `subscribers`, could not be read.
    publisher_actions read_failed(std::uint64_t epoch, std::size_t stream, const error& reason,
                                  std::int64_t now_ms);
    publisher_actions acknowledged(const append_ticket& ticket, std::int64_t now_ms);
    publisher_actions append_failed(const append_ticket& ticket, const error& reason, std::int64_t now_ms);
    /// Must be called at least every second, and when wake_at says so.
    publisher_actions time_passed(std::int64_t now_ms);
    /// A read of this epoch makes progress, but has not reached the end.
    void progressed(std::uint64_t epoch, std::size_t stream, std::int64_t now_ms);

    /// What is certainly in the log but not yet in the state.
    std::vector<schemas::published_position> published() const;
    /// How many rows the log refused since the first start().
    std::uint64_t rows_refused() const noexcept { return x_rows_refused; }

  private:
    enum class state : std::uint8_t { stopped, running, resting };
    enum class cursor_state : std::uint8_t {
        unread,
        reading,
        publishing,
        /// The partition has events of a later generation than the state: nothing may be appended after them.
        outdated
    };
    /// Progress in one partition of the log; the last flow is that of `subscribers`.
    struct flow {
        std::size_t records_in_flight = 0;
        std::size_t bytes_in_flight = 0;
        bool has_more_to_send = false;
        std::int64_t progress_ms = 0;  // of its read, or of the appends in flight
        // These survive the end of an epoch.
        unsigned failures_in_a_row = 0;
        std::int64_t rest_until_ms = 0;  // no read before this time
    };
    struct refused_row {
        std::uint64_t sequence = 0;
        std::string reason;
    };
    struct cursor {
        log::topic_partition where;
        cursor_state state = cursor_state::unread;
        std::uint64_t next = 0;
        // These survive the end of an epoch.
        std::uint64_t acknowledged = 0;
        std::uint64_t alone_up_to = 0;  // one of these was refused in a batch: sent one by one
        std::optional<refused_row> refused;
    };
    enum class subscribers_state : std::uint8_t { unread, comparing, writing, writing_head, idle };
    struct change {
        std::string key;
        std::optional<std::string> value;
    };
    /// Writes `subscribers`. Everything up to `written` is in the topic; `target` is being written.
    struct subscriber_writer {
        subscribers_state state = subscribers_state::unread;
        std::deque<change> queue;
        std::size_t unacknowledged = 0;
        std::uint64_t target = 0;
        std::uint64_t written = 0;
        bool head_is_due = false;
        std::set<schemas::webhook_id> rows;       // that the topic will hold when the queue is written
        std::optional<std::int64_t> compared_ms;  // empty: not yet in this epoch
    };

    void begin(std::int64_t now_ms);
    void end_epoch();
    void give_up(std::int64_t now_ms);
    void rest(std::size_t stream, const error& reason, std::int64_t now_ms);
    bool is_of_this_epoch(std::uint64_t epoch) const;
    bool is_being_read(std::size_t stream) const;
    bool is_stalled(std::int64_t now_ms) const;
    void end_silent_reads(std::int64_t now_ms);
    void end_read(std::size_t stream, const error& reason, std::int64_t now_ms);
    void read_what_is_due(std::int64_t now_ms);
    std::optional<std::size_t> next_tail(std::int64_t now_ms) const;
    void judge_refusal(const append_ticket& ticket, const error& reason);
    std::string marker_of(const outbox_row& row, const cursor& of) const;
    void pump(std::int64_t now_ms);
    void pump_events(std::int64_t now_ms);
    bool publish_rows(std::size_t stream, std::int64_t now_ms);
    void pump_subscribers(std::int64_t now_ms);
    void compare_subscribers(const topic_content& content);
    bool next_subscriber_step();
    void send(append_ticket ticket, change what, std::int64_t now_ms);
    std::size_t records_max(std::size_t stream) const;
    bool has_room(std::size_t stream) const;
    bool has_room() const;
    const log::topic_partition& place_of(std::size_t stream) const;
    std::size_t subscribers_stream() const { return x_cursors.size(); }
    publisher_actions take() { return std::exchange(x_actions, {}); }
    void goes_on(std::size_t stream);

    const outbox& x_outbox;
    state x_state = state::stopped;
    std::uint64_t x_epoch = 0;
    std::vector<cursor> x_cursors;
    std::vector<flow> x_flows;  // one for each cursor, and one for `subscribers`
    std::size_t x_turn = 0;     // the partition whose turn is next
    std::size_t x_tails_being_read = 0;
    subscriber_writer x_subscribers;
    std::size_t x_records_in_flight = 0;
    std::size_t x_bytes_in_flight = 0;
    bool x_has_more_to_send = false;
    unsigned x_failures_in_a_row = 0;
    std::int64_t x_rest_until_ms = 0;
    std::uint64_t x_rows_refused = 0;
    publisher_actions x_actions;
    runtime::lasting_trouble x_rests{{.event = runtime::log_events::publisher_partition_rests,
                                      .over = runtime::log_events::publisher_partitions_go_on,
                                      .part = "partition"}};
};

}  // namespace herald::events
