// Polling, pausing and committing.
#include "workers/consumer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t commit_delay_ms = 50;
constexpr std::int64_t ask_again_ms = 20;  // for room

}  // namespace

void record_part::done() const { reader->part_done(of, offset, part); }

consumer::consumer(events::log::partitioned_log& log, runtime::scheduler& scheduler, log_clock& logs_time,
                   std::string group, const std::vector<std::string>& topics, consumer_handlers handlers)
    : x_log(log),
      x_scheduler(scheduler),
      x_log_clock(logs_time),
      x_group(std::move(group)),
      x_handlers(std::move(handlers)),
      x_member(log.join(x_group, topics)) {
    const auto poll_now = x_lifetime.guard([this] { poll(); });
    x_member->on_ready([&scheduler, planned = x_is_poll_planned, poll_now] {
        if (!planned->exchange(true)) scheduler.post(poll_now);
    });
    poll_soon();
}

void consumer::tick() {
    poll();
    for (const auto& [where, mine] : x_assignments)
        if (mine->is_paused) advance(mine);
}

void consumer::stop_taking() {
    x_is_taking = false;
    for (const auto& [where, mine] : x_assignments) advance(mine);
}

void consumer::leave() {
    if (!x_member) return;
    for (const auto& [where, mine] : x_assignments) x_handlers.on_release(*mine);
    commit_all();
    for (const auto& [where, mine] : x_assignments) mine->is_revoked = true;
    x_assignments.clear();
    x_member.reset();
}

void consumer::commit_all() {
    for (const auto& [where, mine] : x_assignments) commit(*mine);
}

void consumer::part_done(const std::shared_ptr<assignment>& mine, std::int64_t offset, std::size_t part) {
    if (mine->is_revoked) return;
    mine->tracker.part_done(offset, part);
    if (mine->tracker.advanced()) commit_soon();
    // Not immediately: the delivery's owner is still at it, and on_record expects no other record before it
    // returns.
    if (is_drained(*mine))
        x_scheduler.post(x_lifetime.guard([this, mine] { release(mine); }));
    else if (mine->is_paused)
        wake_at(mine, x_scheduler.time().steady_ms());
}

void consumer::poll_soon() {
    if (!x_is_poll_planned->exchange(true)) x_scheduler.post(x_lifetime.guard([this] { poll(); }));
}

void consumer::poll() {
    *x_is_poll_planned = false;
    if (x_has_failed || !x_member) return;
    std::vector<events::log::member_event> found = x_member->poll(limits::events_a_poll_max, 0);
    const bool more = found.size() >= limits::events_a_poll_max;
    const auto is_change = [](const events::log::member_event& one) {
        return std::holds_alternative<events::log::assigned>(one) ||
               std::holds_alternative<events::log::recalled>(one) ||
               std::holds_alternative<events::log::revoked>(one);
    };
    if (std::any_of(found.begin(), found.end(), is_change)) x_handlers.on_change();
    for (events::log::member_event& one : found)
        std::visit([this](auto& event) { handle(std::move(event)); }, one);
    if (more) poll_soon();
}

void consumer::handle(events::log::assigned&& got) {
    const auto before = x_assignments.find(got.where);
    if (before != x_assignments.end()) handle(events::log::revoked{got.where, before->second->epoch});
    delivery_tracker tracker({got.next_offset, got.metadata});
    const event_position last = position_from_text(tracker.first_position());
    auto mine = std::make_shared<assignment>(assignment{.where = got.where,
                                                        .epoch = got.epoch,
                                                        .tracker = std::move(tracker),
                                                        .early = early_records(delay_of(got.where.topic)),
                                                        .last = last});
    x_assignments.emplace(got.where, mine);
    advance(mine);
}

void consumer::handle(const events::log::recalled& wanted) {
    const auto found = x_assignments.find(wanted.where);
    if (found == x_assignments.end() || found->second->epoch != wanted.epoch) return;
    const std::shared_ptr<assignment> mine = found->second;
    mine->is_recalled = true;
    x_handlers.on_recalled(*mine);
    if (is_drained(*mine)) return release(mine);
    x_scheduler.run_at(x_scheduler.time().steady_ms() + limits::recalled_ms_max,
                       x_lifetime.guard([this, mine] { release(mine); }));
}

void consumer::handle(const events::log::revoked& lost) {
    const auto found = x_assignments.find(lost.where);
    if (found == x_assignments.end() || found->second->epoch != lost.epoch) return;
    const std::shared_ptr<assignment> mine = found->second;
    forget(mine);
    x_handlers.on_revoked(*mine);
}

void consumer::forget(const std::shared_ptr<assignment>& mine) {
    commit(*mine);
    mine->is_revoked = true;
    x_assignments.erase(mine->where);
}

void consumer::release(const std::shared_ptr<assignment>& mine) {
    if (mine->is_revoked) return;
    x_handlers.on_release(*mine);
    forget(mine);
    x_member->release(mine->where, mine->epoch);
    if (!mine->held.empty()) x_handlers.on_revoked(*mine);
}

void consumer::handle(events::log::consumed&& got) {
    const auto found = x_assignments.find(got.where);
    if (found == x_assignments.end() || found->second->epoch != got.epoch) return;
    const std::shared_ptr<assignment> mine = found->second;
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    x_log_clock.saw(got.what.time_ms, now_ms);
    mine->early.add(std::move(got.what), now_ms);
    advance(mine);
}

void consumer::handle(const events::log::member_failure& failure) {
    x_has_failed = true;
    runtime::log(runtime::log_level::error, runtime::log_events::worker_group_failed,
                 {{"group", x_group}, {"reason", failure.reason.message}});
    x_handlers.on_failure(failure.reason);
}

bool consumer::has_room(const assignment& mine) const {
    return x_is_taking && !mine.is_recalled && !mine.tracker.full() && !x_handlers.overloaded();
}

void consumer::advance(const std::shared_ptr<assignment>& mine) {
    bool is_wanted = true;
    while (is_wanted && has_room(*mine)) {
        const events::log::record* first = mine->early.first();
        if (first == nullptr) break;
        if (mine->early.due(x_scheduler.time(), x_log_clock) != nullptr) {
            if (mine->early.is_doubtful(x_scheduler.time())) {
                ask_end(mine);
                break;
            }
            is_wanted = x_handlers.on_record(mine, *first);
        } else {
            if (!x_handlers.on_early_record) break;
            is_wanted = x_handlers.on_early_record(mine, *first);
        }
        if (!is_wanted) break;
        mine->read_ms = first->time_ms;
        mine->early.pop();
    }
    if (mine->tracker.advanced()) commit_soon();
    const bool room = has_room(*mine);
    const std::optional<std::int64_t> next_due_ms = mine->early.next_due_ms(x_scheduler.time(), x_log_clock);
    const bool pause = !room || next_due_ms.has_value();
    if (pause && !mine->is_paused) x_member->pause(mine->where);
    if (!pause && mine->is_paused) x_member->resume(mine->where);
    mine->is_paused = pause;
    if (room && next_due_ms && !mine->is_asking)
        wake_at(mine, is_wanted ? *next_due_ms : x_scheduler.time().steady_ms() + ask_again_ms);
}

void consumer::wake_at(const std::shared_ptr<assignment>& mine, std::int64_t due_ms) {
    if (mine->wake_ms != 0 && mine->wake_ms <= due_ms) return;
    mine->wake_ms = due_ms;
    x_scheduler.run_at(due_ms, x_lifetime.guard([this, due_ms, weak = std::weak_ptr(mine)] {
        const auto still = weak.lock();
        if (!still || still->is_revoked || still->wake_ms != due_ms) return;
        still->wake_ms = 0;
        advance(still);
    }));
}

/// At most once per delay: what lies behind the end is not due before the delay is over. If there is no
/// answer, tick() calls this again.
void consumer::ask_end(const std::shared_ptr<assignment>& mine) {
    if (std::exchange(mine->is_asking, true)) return;
    const auto answered =
        x_lifetime.guard([this, weak = std::weak_ptr(mine), now_ms = x_scheduler.time().steady_ms()](
                             const result<events::log::offset_range>& range) {
            const auto still = weak.lock();
            if (!still) return;
            still->is_asking = false;
            if (!range || still->is_revoked) return;
            still->early.appended_after(now_ms, range->next);
            advance(still);
        });
    x_log.query_range(mine->where,
                      [&scheduler = x_scheduler, answered](const result<events::log::offset_range>& range) {
                          scheduler.post([answered, range] { answered(range); });
                      });
}

void consumer::commit(assignment& mine) {
    if (const auto point = mine.tracker.take_commit())
        x_member->commit(mine.where, mine.epoch, point->next_offset, point->metadata);
}

void consumer::commit_soon() {
    if (std::exchange(x_is_commit_planned, true)) return;
    x_scheduler.run_at(x_scheduler.time().steady_ms() + commit_delay_ms, x_lifetime.guard([this] {
        x_is_commit_planned = false;
        commit_all();
    }));
}

}  // namespace herald::workers
