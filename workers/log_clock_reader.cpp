// Asks for the end, and waits there for one record.
#include "workers/log_clock_reader.hpp"

#include <string>

#include "events/log/topics.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t rest_ms = 60'000;  // steady clocks drift by less than 10 ms in a minute

}  // namespace

log_clock_reader::log_clock_reader(events::log::partitioned_log& from, runtime::scheduler& scheduler)
    : x_log(from), x_scheduler(scheduler) {
    listen();
}

void log_clock_reader::listen() {
    x_tail.emplace(
        x_log, x_scheduler, events::log::topic_partition{std::string(events::log::topic::commands), 0},
        events::log::tail::handlers{[](const events::log::offset_range& range) { return range.next; },
                                    [this](const events::log::read_batch& batch) { heard(batch); },
                                    [](const error&) {}});
}

void log_clock_reader::heard(const events::log::read_batch& batch) {
    if (batch.records.empty()) return;
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    x_clock.heard(batch.records.back().time_ms, now_ms);
    x_scheduler.run_at(now_ms + rest_ms, x_lifetime.guard([this] { listen(); }));
    x_tail.reset();
}

}  // namespace herald::workers
