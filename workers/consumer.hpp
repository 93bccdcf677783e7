// A worker's membership in one consumer group: its assignments, how far each partition is done, and when a
// partition is paused (design.md §3). The owner decides what a record means.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/ids.hpp"
#include "workers/delivery_tracker.hpp"
#include "workers/early_records.hpp"
#include "workers/event_position.hpp"
#include "workers/log_clock.hpp"

namespace herald::workers {

/// A partition, from the moment this worker gets it until it loses it. Getting it again makes a new
/// assignment.
struct assignment {
    events::log::topic_partition where;
    std::uint64_t epoch = 0;
    bool is_revoked = false;
    bool is_recalled = false;  // it goes to another worker as soon as nothing of it is in memory
    delivery_tracker tracker;
    early_records early;       // read but not taken: not due, or no room
    event_position last;       // position of the last accepted event; event topics only
    std::int64_t read_ms = 0;  // log time of the last record that was taken; 0: none yet
    bool is_paused = false;
    std::map<schemas::webhook_id, std::size_t> held = {};  // deliveries in memory
    std::int64_t wake_ms = 0;                              // steady time of the planned wake-up; 0: none
    bool is_asking = false;                                // the end of the partition is being asked for
};

class consumer;

/// One delivery's part of a record: the record is done when all its parts are.
struct record_part {
    consumer* reader = nullptr;
    std::shared_ptr<assignment> of;
    std::int64_t offset = 0;
    std::size_t part = 0;

    /// False once the partition was taken away: from then on only `attempts` may be written for it.
    bool wanted() const noexcept { return !of->is_revoked; }
    /// To be called once for each part; does nothing when the part is not wanted.
    void done() const;
};

struct consumer_handlers {
    /// A record is due. Must call tracker.opened() for it, then part_done() or record_part::done() for each
    /// part. Or returns false when there is no room for it now: it is offered again soon, and the records
    /// behind it wait.
    std::function<bool(const std::shared_ptr<assignment>&, const events::log::record&)> on_record;
    /// As on_record, for a record that is not due yet. May be empty: then records wait until they are due.
    std::function<bool(const std::shared_ptr<assignment>&, const events::log::record&)> on_early_record = {};
    /// Its deliveries must leave memory: those that do not run at once, without part_done().
    std::function<void(const assignment&)> on_recalled;
    /// The time for that is over. What is done must call part_done() now: its last commit follows.
    std::function<void(const assignment&)> on_release;
    /// Called when the assignment was already revoked.
    std::function<void(const assignment&)> on_revoked;
    /// The group cannot continue; called once, final.
    std::function<void(const error&)> on_failure;
    /// True when no further record may be loaded into memory.
    std::function<bool()> overloaded;
    /// The group gave this worker partitions or wants some back.
    std::function<void()> on_change = [] {};
};

/// Lives on the scheduler's thread; the log, its clock and the handlers' targets must outlive it. Polls when
/// the log rings and at least once a second (tick). Hands records over while the partition's window has room:
/// those of a topic with a delay when they are due, all others at once. Commits 50 ms after progress, and
/// before it lets a partition go. One that its group wants back is drained first: nothing of it is started
/// any more, what runs may take limits::recalled_ms_max to end.
class consumer {
  public:
    consumer(events::log::partitioned_log&, runtime::scheduler&, log_clock&, std::string group,
             const std::vector<std::string>& topics, consumer_handlers);

    void tick();
    /// No further record is handed over; those in memory may still be finished.
    void stop_taking();
    /// Commits and leaves the group. Blocks as long as group_member's destructor. Final.
    void leave();
    void part_done(const std::shared_ptr<assignment>&, std::int64_t offset, std::size_t part);
    std::size_t partitions() const noexcept { return x_assignments.size(); }
    /// Calls `tell` with each assignment.
    template <class Tell>
    void each_partition(Tell tell) const {
        for (const auto& [where, mine] : x_assignments) tell(*mine);
    }

  private:
    void poll();
    void poll_soon();
    void handle(events::log::assigned&&);
    void handle(const events::log::recalled&);
    void handle(const events::log::revoked&);
    void handle(events::log::consumed&&);
    void handle(const events::log::member_failure&);
    /// Hands over due records as far as there is room; pauses, resumes and plans the next wake-up.
    void advance(const std::shared_ptr<assignment>&);
    void wake_at(const std::shared_ptr<assignment>&, std::int64_t due_ms);
    void ask_end(const std::shared_ptr<assignment>&);
    void commit_all();
    void commit(assignment&);
    void commit_soon();
    /// Commits, then no longer owns it.
    void forget(const std::shared_ptr<assignment>&);
    /// Lets a recalled partition go, whatever still runs.
    void release(const std::shared_ptr<assignment>&);
    bool is_drained(const assignment& mine) const { return mine.is_recalled && mine.held.empty(); }
    bool has_room(const assignment&) const;

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    log_clock& x_log_clock;
    std::string x_group;
    consumer_handlers x_handlers;
    std::map<events::log::topic_partition, std::shared_ptr<assignment>> x_assignments;
    std::shared_ptr<std::atomic<bool>> x_is_poll_planned = std::make_shared<std::atomic<bool>>(false);
    bool x_is_commit_planned = false;
    bool x_is_taking = true;
    bool x_has_failed = false;
    runtime::lifetime x_lifetime;
    std::unique_ptr<events::log::group_member> x_member;  // last: it may call back until it is destroyed
};

}  // namespace herald::workers
