#include "events/log/tail.hpp"

#include <atomic>
#include <utility>

#include "events/log/limits.hpp"
#include "runtime/lifetime.hpp"

namespace herald::events::log {
namespace {

constexpr std::int64_t tick_ms = 1'000;

}  // namespace

/// Kept alive by the running call, so that a handler may destroy the tail.
struct tail::state : std::enable_shared_from_this<state> {
    state(partitioned_log& from, runtime::scheduler& on, topic_partition place, handlers to_tell,
          asks_leader when)
        : log(from), scheduler(on), where(std::move(place)), tell(std::move(to_tell)), asks(when) {}

    runtime::scheduler::task task_of(void (state::*step)()) {
        return runtime::if_alive(weak_from_this(), [step](state& self) { (self.*step)(); });
    }

    void tick() {
        if (source) poll();
        if (has_ended) return;
        if (!source || asks == asks_leader::every_second) ask();
        scheduler.run_at(scheduler.time().steady_ms() + tick_ms, task_of(&state::tick));
    }

    /// The log calls from its own threads, which only post: if one held the state even for a moment, the
    /// state could be destroyed on it.
    void ask() {
        if (std::exchange(is_asking, true)) return;
        log.query_range(
            where,
            runtime::posted(scheduler, runtime::if_alive(weak_from_this(),
                                                         [asked_ms = scheduler.time().steady_ms()](
                                                             state& self, const result<offset_range>& range) {
                                                             self.answered(asked_ms, range);
                                                         })));
    }

    void answered(std::int64_t asked_ms, const result<offset_range>& range) {
        is_asking = false;
        if (has_ended) return;
        if (range) leader_heard_ms = asked_ms;
        if (source) return;
        if (!range) return tell.failed(range.error());
        const std::int64_t begin = tell.begin(*range);
        if (has_ended) return;
        source = log.open_reader(where, begin);
        source->on_ready([&to = scheduler, posted = is_poll_posted, poll_now = task_of(&state::poll)] {
            if (!posted->exchange(true)) to.post(poll_now);
        });
        poll();
    }

    void poll() {
        is_poll_posted->store(false);
        if (!source) return;
        const result<read_batch> batch = source->poll(limits::tail_records_per_poll_max, 0);
        if (!batch) {
            if (batch.error().code == error_code::failed_precondition) source.reset();
            return tell.failed(batch.error());
        }
        if (!batch->records.empty() && !batch->at_end && !is_poll_posted->exchange(true))
            scheduler.post(task_of(&state::poll));
        if (!batch->records.empty() || batch->at_end) tell.found(*batch);
    }

    partitioned_log& log;
    runtime::scheduler& scheduler;
    const topic_partition where;
    const handlers tell;
    const asks_leader asks;
    bool has_ended = false;
    bool is_asking = false;
    std::int64_t leader_heard_ms = 0;
    const std::shared_ptr<std::atomic<bool>> is_poll_posted = std::make_shared<std::atomic<bool>>(false);
    std::unique_ptr<reader> source;
};

tail::tail(partitioned_log& from, runtime::scheduler& scheduler, topic_partition where, handlers tell,
           asks_leader when)
    : x_state(std::make_shared<state>(from, scheduler, std::move(where), std::move(tell), when)) {
    scheduler.post(x_state->task_of(&state::tick));
}

tail::~tail() {
    x_state->has_ended = true;
    x_state->source.reset();
}

std::int64_t tail::leader_heard_ms() const noexcept { return x_state->leader_heard_ms; }

}  // namespace herald::events::log
