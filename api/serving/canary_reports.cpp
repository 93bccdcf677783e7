#include "api/serving/canary_reports.hpp"

#include <algorithm>
#include <utility>

#include "api/serving/limits.hpp"
#include "runtime/lifetime.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/serving.hpp"

namespace herald::api::serving {

void canary_reports::begin(const canary_interval& interval, const std::shared_ptr<canary_meter>& of) {
    x_with.loop.post(runtime::if_alive(
        weak_from_this(), [interval, of = std::weak_ptr<canary_meter>(of)](canary_reports& self) {
            if (const auto held = of.lock()) self.begin_here(interval, held);
        }));
}

void canary_reports::begin_here(const canary_interval& interval, const std::shared_ptr<canary_meter>& of) {
    if (x_is_ending) return;
    std::erase_if(x_running, [](const auto& each) { return each.second.of.expired(); });
    const auto [place, is_new] = x_running.try_emplace(interval.update);
    running& now = place->second;
    if (!is_new && now.interval.number == interval.number) return;
    if (is_new || !now.is_told) now.before = of->sum();
    now.of = of;
    now.interval = interval;
    now.is_told = false;
    const std::int64_t wait_ms = std::max<std::int64_t>(
        interval.ends_ms - x_with.log_clock.wall_ms() + limits::canary_report_delay_ms, 0);
    x_with.loop.run_at(
        x_with.loop.time().steady_ms() + wait_ms,
        runtime::if_alive(weak_from_this(), [interval](canary_reports& self) { self.take(interval); }));
}

void canary_reports::take(const canary_interval& interval) {
    const auto place = x_running.find(interval.update);
    if (place == x_running.end() || place->second.interval.number != interval.number) return;
    const std::shared_ptr<canary_meter> of = place->second.of.lock();
    if (!of) {
        x_running.erase(place);
        return;
    }
    schemas::component_counts after = of->sum();
    const schemas::component_counts counts = counted_between(place->second.before, after);
    place->second.before = std::move(after);
    place->second.is_told = true;
    send(interval, counts);
}

void canary_reports::send(const canary_interval& interval, const schemas::component_counts& counts) {
    const auto place = x_running.find(interval.update);
    if (place == x_running.end() || place->second.interval.number != interval.number) return;
    const auto me = x_with.registry.me();
    schemas::commands::report_canary report;
    report.update_id = interval.update;
    report.interval = interval.number;
    report.node = me.name;
    report.boot = me.boot;
    report.counts = counts;
    const auto answered =
        runtime::if_alive(weak_from_this(), [interval, counts](canary_reports& self, const auto& outcome) {
            if (outcome) return;
            self.x_with.loop.run_at(self.x_with.loop.time().steady_ms() + limits::report_retry_ms,
                                    runtime::if_alive(self.weak_from_this(), [interval, counts](auto& again) {
                                        again.send(interval, counts);
                                    }));
        });
    x_with.registry.submit(schemas::commands::report_canary::type, schemas::encode(report), {},
                           x_with.random.uuid(), runtime::posted(x_with.loop, answered));
}

}  // namespace herald::api::serving
