// Asking for the end, and waiting there.
#include "workers/log_clock_reader.hpp"

#include <string>

#include "events/log/topics.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t tick_ms = 1'000;
constexpr std::int64_t rest_ms = 60'000;  // steady clocks drift by less than 10 ms in a minute

events::log::topic_partition commands() { return {std::string(events::log::topic::commands), 0}; }

}  // namespace

log_clock_reader::log_clock_reader(events::log::partitioned_log& from, runtime::scheduler& scheduler)
    : x_log(from), x_scheduler(scheduler) {
    x_scheduler.post(x_lifetime.guard([this] { tick(); }));
}

void log_clock_reader::tick() {
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    if (x_reader)
        poll();
    else if (!x_asking && now_ms >= x_listen_ms)
        listen();
    x_scheduler.run_at(now_ms + tick_ms, x_lifetime.guard([this] { tick(); }));
}

void log_clock_reader::listen() {
    x_asking = true;
    const auto answered =
        x_lifetime.guard([this](const result<events::log::offset_range>& range) { opened(range); });
    x_log.query_range(commands(),
                      [&scheduler = x_scheduler, answered](const result<events::log::offset_range>& range) {
                          scheduler.post([answered, range] { answered(range); });
                      });
}

void log_clock_reader::opened(const result<events::log::offset_range>& range) {
    x_asking = false;
    if (!range) return;
    x_reader = x_log.open_reader(commands(), range->next);
    const auto poll_now = x_lifetime.guard([this] { poll(); });
    x_reader->on_ready([&scheduler = x_scheduler, posted = x_poll_posted, poll_now] {
        if (!posted->exchange(true)) scheduler.post(poll_now);
    });
    poll();
}

void log_clock_reader::poll() {
    x_poll_posted->store(false);
    if (!x_reader) return;
    const result<events::log::read_batch> batch = x_reader->poll(limits::clock_records_per_poll_max, 0);
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    if (!batch) {
        if (batch.error().code == error_code::failed_precondition) x_reader.reset();
    } else if (!batch->records.empty()) {
        x_clock.heard(batch->records.back().time_ms, now_ms);
        x_listen_ms = now_ms + rest_ms;
        x_reader.reset();
    }
}

}  // namespace herald::workers
