#include "storage/node/read_barrier.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "events/log/topics.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/mutex.hpp"
#include "storage/node/limits.hpp"

namespace herald::storage::node {
namespace {

constexpr std::int64_t watch_interval_ms = 50;

}  // namespace

registry_node::reading read_barrier::reading_of(const applied_state& state, bool stale) {
    return {state.view, state.offset(), state.installation ? state.installation->generation : 0, stale};
}

void read_barrier::read(registry_node::reading_handler handler) {
    const std::int64_t deadline_ms = x_parts.scheduler.time().steady_ms() + limits::barrier_wait_ms_max;
    {
        const runtime::lock_guard lock(x_mutex);
        x_unasked.push_back({std::move(handler), deadline_ms});
    }
    ask();
    watch();
}

void read_barrier::ask() {
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_asking || x_unasked.empty()) return;
        x_is_asking = true;
        x_asked = std::exchange(x_unasked, {});
    }
    const std::int64_t age_ms = x_parts.scheduler.time().steady_ms() - x_heartbeat_sent_ms;
    if (!x_parts.always_appends && age_ms <= limits::barrier_heartbeat_age_ms_max) {
        x_parts.log.query_range(
            {std::string(events::log::topic::commands), 0},
            runtime::if_alive(weak_from_this(),
                              [](read_barrier& self, const result<events::log::offset_range>& range) {
                                  if (!range) return self.answered(range.error());
                                  self.answered(static_cast<std::uint64_t>(range->next));
                              }));
        return;
    }
    x_parts.gateway->submit_own(
        schemas::commands::no_operation{},
        runtime::if_alive(weak_from_this(),
                          [](read_barrier& self, const result<schemas::commands::outcome>& outcome) {
                              if (!outcome) return self.answered(outcome.error());
                              self.answered(0u);  // an outcome is known only after it was applied
                          }));
}

void read_barrier::answered(const result<std::uint64_t>& next_offset) {
    reads ready;
    {
        const runtime::lock_guard lock(x_mutex);
        x_is_asking = false;
        reads asked = std::exchange(x_asked, {});
        if (!next_offset)  // the watch asks again until their time is up
            std::move(asked.begin(), asked.end(), std::back_inserter(x_unasked));
        else if (*next_offset <= x_applied)
            ready = std::move(asked);
        else
            for (waiting_read& one : asked) x_by_offset.emplace(*next_offset, std::move(one));
    }
    answer(ready, false);
    if (next_offset) ask();
}

void read_barrier::applied(std::uint64_t next_offset) {
    reads ready;
    {
        const runtime::lock_guard lock(x_mutex);
        x_applied = next_offset;
        const auto end = x_by_offset.upper_bound(next_offset);
        for (auto one = x_by_offset.begin(); one != end; ++one) ready.push_back(std::move(one->second));
        x_by_offset.erase(x_by_offset.begin(), end);
    }
    answer(ready, false);
}

void read_barrier::watch() {
    {
        const runtime::lock_guard lock(x_mutex);
        if (std::exchange(x_is_watched, true)) return;
    }
    const auto expire = runtime::if_alive(weak_from_this(), [](read_barrier& self) { self.expire(); });
    x_parts.scheduler.post([expire, &scheduler = x_parts.scheduler] {
        scheduler.run_at(scheduler.time().steady_ms() + watch_interval_ms, expire);
    });
}

void read_barrier::expire() {
    const std::int64_t now_ms = x_parts.scheduler.time().steady_ms();
    reads expired;
    const auto take_expired = [&](reads& from) {
        const auto late = std::partition(from.begin(), from.end(),
                                         [&](const waiting_read& one) { return one.deadline_ms > now_ms; });
        std::move(late, from.end(), std::back_inserter(expired));
        from.erase(late, from.end());
    };
    bool is_idle = false;
    {
        const runtime::lock_guard lock(x_mutex);
        take_expired(x_unasked);
        take_expired(x_asked);
        for (auto next = x_by_offset.begin(); next != x_by_offset.end();) {
            const auto one = next++;
            if (one->second.deadline_ms > now_ms) continue;
            expired.push_back(std::move(one->second));
            x_by_offset.erase(one);
        }
        is_idle = x_unasked.empty() && x_asked.empty() && x_by_offset.empty();
        x_is_watched = false;
    }
    answer(expired, true);
    ask();
    if (!is_idle) watch();
}

void read_barrier::answer(reads& ready, bool stale) const {
    if (ready.empty()) return;
    if (stale) x_stale_reads.add(ready.size());
    const auto state = x_parts.state->newest();
    for (const waiting_read& one : ready) one.handler(reading_of(*state, stale));
}

}  // namespace herald::storage::node
