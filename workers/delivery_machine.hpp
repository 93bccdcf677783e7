// What happens to each delivery in memory: it waits for its webhook's row, waits in its lane, is attempted,
// and then is done, goes to a retry topic, or is dead (design.md §3, delivery.md §3-4).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "events/subscriber_table.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "workers/answer.hpp"
#include "workers/attempt_record.hpp"
#include "workers/backlog.hpp"
#include "workers/consumer.hpp"
#include "workers/delivery_options.hpp"
#include "workers/delivery_report.hpp"
#include "workers/fan_out.hpp"
#include "workers/intake.hpp"
#include "workers/lanes.hpp"
#include "workers/log_clock.hpp"
#include "workers/loop_lateness.hpp"
#include "workers/record_writer.hpp"
#include "workers/retry_backlog.hpp"
#include "workers/transport.hpp"
#include "workers/worker_counters.hpp"

namespace herald::workers {

/// Everything here must outlive the machine.
struct delivery_machine_parts {
    runtime::scheduler& scheduler;
    runtime::random_source& random;
    const runtime::key_ring& keys;
    const events::subscriber_table& subscribers;
    workers::transport& transport;
    record_writer& writer;
    const log_clock& logs_time;
    worker_counters& counters;
};

/// A delivery enters by accept() and leaves, within seconds, when its part of its record is done. It is in
/// one of four stages: waiting (for its webhook's row, or for another attempt of the same delivery), queued
/// in its lane, attempting, writing (its successor is being appended to `waiting`, a retry topic or `dead`).
///   P3: the part is done only after a 2xx, an acknowledged write, or for a deleted webhook; and after the
///   record of what it ended with is acknowledged. Records of attempts that are repeated may be lost.
///   There are never two attempts of the same delivery at once.
///   Of a recalled partition nothing is attempted any more; attempts that are on the wire, and what is being
///   written, end as usual.
///   A revoked partition's deliveries leave at once; an attempt that is on the wire ends, and writes only
///   `attempts`. What has arrived by then is done, though its record may not be acknowledged yet.
/// A test is attempted once, even when the webhook is disabled, and always ends with an attempt record; if it
/// failed, the record's result is `dead`, but nothing goes to that topic.
/// A READ event, which is best effort and has a deadline, is attempted once, too; it is dropped when there is
/// no room for it, or while its webhook is disabled or rests.
///
/// Lives on the scheduler's thread. Its size is bounded by the consumers, which ask writing_bytes().
class delivery_machine {
  public:
    delivery_machine(delivery_machine_parts, delivery_options);

    void accept(delivery_of_event, record_part);
    /// Whether to accept a delivery that waits for room now; `waited_ms`: in the topic `waiting`.
    bool wants(const schemas::delivery&, std::int64_t waited_ms) const;
    /// Asks for further events, or for further deliveries that wait for room (intake.hpp).
    bool takes_events();
    bool takes_waiting();
    void recalled(const assignment&);
    void release(const assignment&);
    void revoked(const assignment&);
    /// The rows or the head of the subscriber table changed.
    void subscribers_changed();
    /// To be called once a second.
    void tick();
    /// Waiting deliveries go to a retry topic; running attempts end as usual. Nothing may enter any more.
    void drain();

    /// Size of the records being appended to the log.
    std::size_t writing_bytes() const noexcept { return x_writing_bytes; }
    bool idle() const noexcept { return x_deliveries.empty(); }
    void read_gauges(worker_gauges&) const;
    /// What is in memory.
    void read_backlog(worker_backlog&) const;

  private:
    enum class stage : std::uint8_t { waiting, queued, attempting, writing };
    struct delivery_in_memory {
        delivery_of_event what;
        record_part part;
        stage at = stage::waiting;
        std::int64_t since_ms = 0;  // steady clock; of the waiting
        std::size_t writing_bytes = 0;
        bool is_dead = false;      // its successor goes to `dead`
        bool has_arrived = false;  // only the record of that is still being written
        made_attempt attempt;
        std::unique_ptr<attempt_handle> handle;
    };
    using iterator = std::map<delivery_key, delivery_in_memory>::iterator;
    enum class row_state : std::uint8_t { usable, not_reached, deleted, disabled };
    using counter = std::uint64_t worker_counters::*;

    static lane_share share_of(const schemas::delivery&) noexcept;
    enum class being_written : std::uint8_t { ends, is_forgotten };
    void give_back(const assignment&, being_written);

    // A delivery's way to its attempt, and what follows (delivery_attempt.cpp)
    void proceed(delivery_key);
    void enter_lane(iterator);
    row_state look_up(const delivery_of_event&) const;
    void carry_out(lane_actions&&);
    void start(iterator);
    void send(iterator, const schemas::subscriber&);
    void wait_again(iterator);
    void answered(delivery_key, const delivery_answer&);
    void answered_test(iterator, const delivery_answer&, schemas::attempt&&);
    void fail(iterator, const answer_meaning&, schemas::attempt&&);
    void end(iterator, const schemas::attempt& last);
    std::optional<std::int64_t> scheduled_wait_ms(const schemas::delivery&) const;
    void leave_lane(iterator, const attempt_end&);
    void park(schemas::webhook_id, std::uint64_t revision, std::int64_t until_ms);
    // The end of a delivery without an attempt
    void skip(iterator, std::string message, schemas::delivery_error = schemas::delivery_error::none);
    void keep_held(iterator);
    void hold(iterator);
    void bury(iterator, std::string why);
    void expire_test(iterator);
    void drop(iterator);
    void spill(iterator, const lane_action& how);
    void spill_for_room(iterator, std::int64_t wait_ms);
    // The delivery's successor, on another topic
    void write_wait(iterator, std::int64_t wait_ms, counter);
    void write_dead(iterator, std::string reason);
    void write(iterator, std::string_view topic);
    void write(iterator, std::string_view topic, std::string value, std::function<void(iterator)> then);
    void write_last(iterator, const schemas::attempt&);
    void cannot_be_kept(iterator, const error&);

    void tell(const schemas::attempt&, const schemas::event&);
    void report(const schemas::attempt&, const schemas::event&);
    void done(iterator);
    void forget(iterator);
    bool is_test(const delivery_in_memory&) const noexcept;
    bool is_fleeting(const delivery_in_memory&) const noexcept;
    bool has_deadline(const delivery_in_memory&) const noexcept;
    bool is_late(const delivery_in_memory&) const noexcept;
    std::int64_t parked_for_ms(const schemas::delivery&) const;
    bool backlog_full(schemas::webhook_id);
    bool is_over_share(const delivery_in_memory&) const;
    bool subscribers_reachable() const;
    void continue_at_pace();
    std::uint64_t revision_of(schemas::webhook_id) const;  // as far as this worker knows; 0: no such row
    std::int64_t now_ms() const { return x_parts.scheduler.time().steady_ms(); }
    loop_time loop_now() const { return {now_ms(), x_late.total_ms()}; }
    std::int64_t log_ms() const { return x_parts.logs_time.now_ms(x_parts.scheduler.time()); }

    delivery_machine_parts x_parts;
    delivery_options x_options;
    lanes x_lanes;
    intake x_intake;
    retry_backlog x_backlog;
    delivery_report x_report;
    std::map<delivery_key, delivery_in_memory> x_deliveries;
    std::set<delivery_key> x_waiting;              // from x_deliveries: stage waiting
    std::set<delivery_key> x_tests;                // from x_deliveries: tests
    std::set<delivery_key> x_fleeting;             // from x_deliveries: READ events
    std::unordered_set<std::string> x_active_ids;  // ids of deliveries that are queued or attempting
    std::deque<lane_action> x_actions;
    bool x_is_carrying_out = false;
    std::int64_t x_pace_ms = 0;  // steady time of the next look at lanes with a rate limit; 0: none
    delivery_key x_last_key = 0;
    std::size_t x_writing_bytes = 0;
    loop_lateness x_late;
    runtime::lifetime x_lifetime;
};

}  // namespace herald::workers
