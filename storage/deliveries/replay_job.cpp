#include "storage/deliveries/replay_job.hpp"

#include <algorithm>
#include <utility>

#include "runtime/lifetime.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/replays.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::deliveries {
namespace {

namespace tables = registry::tables;
using schemas::replay;
using schemas::replay_state;

std::uint64_t ended(const schemas::replay_outcomes& outcomes) { return outcomes.delivered + outcomes.failed; }

/// What the cursor of a replay's row holds.
struct place_of_replay {
    std::string cursor;                               // of replay_source
    std::vector<schemas::event_for_webhook> decided;  // the last that were counted as sent

    HERALD_DESCRIBE(cursor, decided);
};

place_of_replay place_in(const replay& row) {
    place_of_replay place;
    schemas::decode_into(place, row.progress.cursor.bytes);
    return place;
}

}  // namespace

void replay_job::start(std::uint64_t token) {
    x_scheduler.post(runtime::if_alive(weak_from_this(), [token](replay_job& self) {
        self.x_token = token;
        self.x_runs.clear();
        self.look();
    }));
}

void replay_job::stop() {
    x_scheduler.post(runtime::if_alive(weak_from_this(), [](replay_job& self) { self.x_token = 0; }));
}

void replay_job::look_soon(std::int64_t in_ms) {
    if (std::exchange(x_is_look_planned, true)) return;
    x_scheduler.run_at(x_scheduler.time().steady_ms() + in_ms,
                       runtime::if_alive(weak_from_this(), [](replay_job& self) {
                           self.x_is_look_planned = false;
                           self.look();
                       }));
}

void replay_job::look() {
    if (x_token == 0) return;
    const auto view = x_store.view();
    std::vector<schemas::replay_id> unfinished;
    tables::replays::each_unfinished(*view, [&](schemas::replay_id id) {
        unfinished.push_back(id);
        return unfinished.size() < limits::replays_looked_at_max;
    });
    std::erase_if(x_runs, [&](const auto& each) {
        return !each.second.is_waiting && std::ranges::count(unfinished, each.first) == 0;
    });
    for (const schemas::replay_id id : unfinished)
        if (const auto row = tables::replays::find(*view, id); row && row->state == replay_state::running)
            step(*view, *row);
    look_soon(limits::replay_look_ms);
}

void replay_job::step(const registry::state::state_view& state, const replay& row) {
    run& mine = x_runs[row.id];
    if (mine.is_waiting) return;
    if (std::string why = obstacle(state, row); !why.empty()) {
        mine.is_waiting = true;
        return report({row.id, row.progress, false, std::move(why), x_token});
    }
    if (row.progress.is_counted)
        send_on(state, row, mine);
    else
        count_on(state, row, mine);
}

std::string replay_job::obstacle(const registry::state::state_view& state, const replay& row) {
    if (!row.scope.webhook_id) return {};
    const auto hook = tables::webhooks::find(state, row.scope.webhook_id);
    if (!hook) return "the webhook was deleted";
    return hook->status == schemas::webhook_status::disabled ? "the webhook was disabled" : "";
}

void replay_job::count_on(const registry::state::state_view& state, const replay& row, run& mine) {
    const replay_slice slice = next_of_replay(state, x_history, row, mine.cursor,
                                              limits::replay_counted_at_once, limits::replay_looked_at_once);
    mine.counted += slice.items.size();
    mine.cursor = slice.cursor;
    if (!slice.is_at_end) return look_soon(0);
    mine.cursor.clear();
    mine.is_waiting = true;
    schemas::replay_progress progress = row.progress;
    progress.is_counted = true;
    progress.total = mine.counted;
    report({row.id, std::move(progress), false, {}, x_token});
}

/// First what the log says was decided to be sent, unless this process has sent it; then the next slice is
/// decided. So after a crash the same is sent again, and counted once.
void replay_job::send_on(const registry::state::state_view& state, const replay& row, run& mine) {
    const place_of_replay place = place_in(row);
    if (!place.decided.empty() && mine.sent != row.progress.sent) {
        mine.is_waiting = true;
        return send(state, row, place.decided);
    }
    const std::uint64_t under_way = under_way_of(row, mine);
    if (row.progress.is_at_end) {
        if (under_way > 0) return;
        mine.is_waiting = true;
        schemas::replay_progress progress = row.progress;
        progress.total = progress.sent;
        progress.cursor = {};
        progress.outcomes = mine.outcomes;
        return report({row.id, std::move(progress), true, {}, x_token});
    }
    if (under_way >= limits::replay_window) return;
    const std::size_t room =
        std::min<std::size_t>(limits::replay_sent_at_once, limits::replay_window - under_way);
    const std::string& from = mine.cursor.empty() ? place.cursor : mine.cursor;
    const replay_slice slice =
        next_of_replay(state, x_history, row, from, room, limits::replay_looked_at_once);
    mine.cursor = slice.cursor;
    if (slice.items.empty() && !slice.is_at_end) return look_soon(0);
    mine.is_waiting = true;
    decide(state, row, slice);
}

/// Outcomes that this history lost, as with its disk, do not hold a replay up for ever.
std::uint64_t replay_job::under_way_of(const replay& row, run& mine) {
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    const schemas::replay_outcomes known = x_history.outcomes_of_replay(row.id.value);
    if (mine.changed_ms == 0 || !(known == mine.outcomes)) mine.changed_ms = now_ms;
    mine.outcomes = known;
    if (ended(known) >= row.progress.sent) return 0;
    if (now_ms - mine.changed_ms <= limits::replay_outcome_wait_ms) return row.progress.sent - ended(known);
    mine.changed_ms = now_ms;
    return 0;
}

/// In the log; what is sent is what it says.
void replay_job::decide(const registry::state::state_view& state, const replay& row,
                        const replay_slice& slice) {
    place_of_replay place{slice.cursor, {}};
    for (const replay_item& item : slice.items)
        if (tables::webhooks::has(state, item.what.webhook_id) &&
            tables::outbox::find(state, item.what.event_id))
            place.decided.push_back(item.what);
    schemas::replay_progress progress = row.progress;
    progress.is_at_end = slice.is_at_end;
    progress.sent += place.decided.size();
    progress.total = std::max(progress.total, progress.sent);
    progress.outcomes = x_runs[row.id].outcomes;
    progress.cursor.bytes = schemas::encode(place);
    report({row.id, std::move(progress), false, {}, x_token});
}

void replay_job::send(const registry::state::state_view& state, const replay& row,
                      const std::vector<schemas::event_for_webhook>& decided) {
    struct tally {
        std::size_t open = 0;
        bool all = true;
    };
    std::vector<schemas::delivery> deliveries;
    for (const schemas::event_for_webhook& each : decided) {
        auto event = tables::outbox::find(state, each.event_id);
        const auto hook = tables::webhooks::find(state, each.webhook_id);
        if (!event || !hook) continue;  // gone meanwhile
        const auto known = x_history.find(schemas::delivery_id(each.event_id, each.webhook_id));
        deliveries.push_back(made_again(*std::move(event), *hook, known ? &*known : nullptr));
        deliveries.back().replay_id = row.id.value;
    }
    if (deliveries.empty()) return sent(row, true);
    const auto left = std::make_shared<tally>(tally{deliveries.size()});
    const auto taken = [left, row](replay_job& job, const result<void>& outcome) {
        left->all = left->all && outcome;
        if (--left->open == 0) job.sent(row, left->all);
    };
    for (schemas::delivery& each : deliveries)
        x_sender.replay(std::move(each),
                        runtime::posted(x_scheduler, runtime::if_alive(weak_from_this(), taken)));
}

/// If the log did not take all, the same is sent again.
void replay_job::sent(const replay& row, bool all) {
    run& mine = x_runs[row.id];
    mine.is_waiting = false;
    if (!all) return;
    mine.sent = row.progress.sent;
    look_soon(0);
}

void replay_job::report(schemas::commands::report_replay what) {
    const schemas::replay_id id = what.replay_id;
    const auto answered = runtime::if_alive(weak_from_this(), [id](replay_job& self, const auto& outcome) {
        run& mine = self.x_runs[id];
        mine.is_waiting = false;
        mine.counted = 0;
        mine.cursor.clear();  // the row has it, or the same is sent again
        if (outcome && outcome->code == 0) self.look_soon(0);
    });
    x_registry.submit(schemas::commands::report_replay::type, schemas::encode(what), {}, x_random.uuid(),
                      runtime::posted(x_scheduler, answered));
}

// ---- dry runs

struct replay_job::counting {
    std::shared_ptr<const registry::state::state_view> view;
    replay of;
    std::string cursor;
    std::int64_t until_ms = 0;
    replay_count found;
    std::function<void(replay_count)> counted;
};

void replay_job::count(replay of, std::function<void(replay_count)> counted) {
    auto one = std::make_shared<counting>();
    one->view = x_store.view();
    one->of = std::move(of);
    one->until_ms = x_scheduler.time().steady_ms() + limits::replay_dry_run_ms;
    one->counted = std::move(counted);
    x_scheduler.post(
        runtime::if_alive(weak_from_this(), [one](replay_job& self) { self.go_on_counting(one); }));
}

void replay_job::go_on_counting(const std::shared_ptr<counting>& one) {
    const replay_slice slice = next_of_replay(*one->view, x_history, one->of, one->cursor,
                                              limits::replay_counted_at_once, limits::replay_looked_at_once);
    one->cursor = slice.cursor;
    replay_count& found = one->found;
    for (const replay_item& item : slice.items) {
        ++found.count;
        ++found.by_webhook[item.what.webhook_id];
        if (found.oldest_ms == 0 || item.time_event_ms < found.oldest_ms)
            found.oldest_ms = item.time_event_ms;
        found.newest_ms = std::max(found.newest_ms, item.time_event_ms);
    }
    found.is_partial = !slice.is_at_end && x_scheduler.time().steady_ms() >= one->until_ms;
    if (slice.is_at_end || found.is_partial) return one->counted(std::move(found));
    x_scheduler.post(
        runtime::if_alive(weak_from_this(), [one](replay_job& self) { self.go_on_counting(one); }));
}

}  // namespace herald::storage::deliveries
