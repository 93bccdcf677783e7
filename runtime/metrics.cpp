#include "runtime/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/assert.hpp"
#include "runtime/limits.hpp"
#include "runtime/mutex.hpp"
#include "runtime/process_metrics.hpp"

namespace herald::runtime {
namespace {

constexpr std::array<std::int64_t, 19> duration_bounds_us{
    50,      100,     250,     500,       1'000,     2'500,     5'000,      10'000,     25'000,    50'000,
    100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000};

using labels = std::vector<prometheus::ClientMetric::Label>;
struct cell {
    std::variant<std::monostate, std::unique_ptr<counter>, std::unique_ptr<gauge>, std::unique_ptr<histogram>>
        metric;
    std::size_t holders = 0;
};
using cells_by_labels = std::map<labels, cell>;  // in the order in which the call gave the labels

struct family {
    std::string help;
    prometheus::MetricType type{};
    cells_by_labels cells;
    std::map<std::string, std::size_t> first_values;  // of the first label, with how many cells have it
};

struct registry {
    runtime::mutex lock;
    std::map<std::string, family, std::less<>> families GUARDED_BY(lock);
    runtime::mutex sources_lock;  // held while sources are called
    std::list<std::function<void()>> sources GUARDED_BY(sources_lock);
};

registry& all() {
    static registry& the_registry = *new registry;  // threads may count until the very end
    return the_registry;
}

labels to_labels(metric_labels given) {
    labels out;
    for (const auto& [name, value] : given) out.push_back({std::string(name), std::string(value)});
    return out;
}

struct place {
    family* of;
    cells_by_labels::iterator at;
};

void add_first_value(family& of, labels& wanted) {
    if (wanted.empty()) return;
    std::string& first = wanted.front().value;
    if (!of.first_values.contains(first) && of.first_values.size() >= limits::metric_label_values_max)
        first = "other";
    if (!of.cells.contains(wanted)) ++of.first_values[first];
}

template <class Metric, class... Arguments>
place place_of(registry& metrics, prometheus::MetricType type, const metric_name& wanted_name,
               metric_labels given, Arguments... arguments) REQUIRES(metrics.lock) {
    const auto& [name, help] = wanted_name;
    auto found = metrics.families.find(name);
    if (found == metrics.families.end())
        found = metrics.families.emplace(name, family{std::string(help), type, {}, {}}).first;
    family& named = found->second;
    HERALD_ASSERT(named.type == type);
    labels wanted = to_labels(given);
    add_first_value(named, wanted);
    if (!named.cells.empty()) {
        const labels& known = named.cells.begin()->first;
        HERALD_ASSERT(std::equal(known.begin(), known.end(), wanted.begin(), wanted.end(),
                                 [](const auto& a, const auto& b) { return a.name == b.name; }));
    }
    const auto at = named.cells.try_emplace(std::move(wanted)).first;
    auto& metric = at->second.metric;
    if (std::holds_alternative<std::monostate>(metric)) metric = std::make_unique<Metric>(arguments...);
    return {&named, at};
}

template <class Metric, class... Arguments>
Metric& look_up(prometheus::MetricType type, const metric_name& name, metric_labels given,
                Arguments... arguments) {
    registry& metrics = all();
    const runtime::lock_guard held(metrics.lock);
    const place found = place_of<Metric>(metrics, type, name, given, arguments...);
    return *std::get<std::unique_ptr<Metric>>(found.at->second.metric);
}

template <class Metric, class... Arguments>
std::shared_ptr<Metric> hold(prometheus::MetricType type, const metric_name& name, metric_labels given,
                             Arguments... arguments) {
    registry& metrics = all();
    const runtime::lock_guard held(metrics.lock);
    const place found = place_of<Metric>(metrics, type, name, given, arguments...);
    ++found.at->second.holders;
    const auto let_go = [&metrics, found](Metric*) {
        const runtime::lock_guard held_again(metrics.lock);
        if (--found.at->second.holders > 0) return;
        const auto value = found.of->first_values.find(found.at->first.front().value);
        if (--value->second == 0) found.of->first_values.erase(value);
        found.of->cells.erase(found.at);
    };
    return {std::get<std::unique_ptr<Metric>>(found.at->second.metric).get(), let_go};
}

struct shown_value {
    prometheus::ClientMetric& out;
    void operator()(std::monostate) const {}
    void operator()(const std::unique_ptr<counter>& metric) const {
        out.counter.value = static_cast<double>(metric->value());
    }
    void operator()(const std::unique_ptr<gauge>& metric) const {
        out.gauge.value = static_cast<double>(metric->value());
    }
    void operator()(const std::unique_ptr<histogram>& metric) const {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i <= metric->bounds_us().size(); ++i) {
            total += metric->count(i);
            const double bound_s = i < metric->bounds_us().size()
                                       ? static_cast<double>(metric->bounds_us()[i]) / 1e6
                                       : std::numeric_limits<double>::infinity();
            out.histogram.bucket.push_back({total, bound_s});
        }
        out.histogram.sample_count = total;
        out.histogram.sample_sum = static_cast<double>(metric->sum_us()) / 1e6;
    }
};

}  // namespace

histogram::histogram(std::span<const std::int64_t> bounds_us)
    : x_bounds_us(bounds_us),
      x_counts(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_us.size() + 1)) {}

void histogram::observe_us(std::int64_t duration_us) noexcept {
    std::size_t bucket = 0;
    while (bucket < x_bounds_us.size() && duration_us > x_bounds_us[bucket]) ++bucket;
    x_counts[bucket].fetch_add(1, std::memory_order_relaxed);
    x_sum_us.fetch_add(duration_us, std::memory_order_relaxed);
}

counter& metric_counter(std::string_view name, std::string_view help, metric_labels given) {
    return look_up<counter>(prometheus::MetricType::Counter, {name, help}, given);
}

gauge& metric_gauge(std::string_view name, std::string_view help, metric_labels given) {
    return look_up<gauge>(prometheus::MetricType::Gauge, {name, help}, given);
}

histogram& metric_histogram(std::string_view name, std::string_view help, metric_labels given) {
    return look_up<histogram>(prometheus::MetricType::Histogram, {name, help}, given,
                              std::span<const std::int64_t>(duration_bounds_us));
}

std::shared_ptr<counter> held_counter(const metric_name& name, metric_labels given) {
    return hold<counter>(prometheus::MetricType::Counter, name, given);
}

std::shared_ptr<gauge> held_gauge(const metric_name& name, metric_labels given) {
    return hold<gauge>(prometheus::MetricType::Gauge, name, given);
}

std::shared_ptr<histogram> held_histogram(const metric_name& name, metric_labels given) {
    return hold<histogram>(prometheus::MetricType::Histogram, name, given,
                           std::span<const std::int64_t>(duration_bounds_us));
}

metrics_source add_metrics_source(std::function<void()> show) {
    registry& metrics = all();
    const runtime::lock_guard held(metrics.sources_lock);
    const auto place = metrics.sources.insert(metrics.sources.end(), std::move(show));
    return {&*place, [&metrics, place](void*) {
                const runtime::lock_guard held_again(metrics.sources_lock);
                metrics.sources.erase(place);
            }};
}

std::string metrics_text() {
    registry& metrics = all();
    {
        const runtime::lock_guard held(metrics.sources_lock);
        for (const auto& show : metrics.sources) show();
    }
    std::vector<prometheus::MetricFamily> shown = process_metrics();
    {
        const runtime::lock_guard held(metrics.lock);
        for (const auto& [name, named] : metrics.families) {
            prometheus::MetricFamily& out = shown.emplace_back();
            out.name = name;
            out.help = named.help;
            out.type = named.type;
            for (const auto& [with, shown_cell] : named.cells) {
                out.metric.emplace_back().label = with;
                std::visit(shown_value{out.metric.back()}, shown_cell.metric);
            }
        }
    }
    return prometheus::TextSerializer().Serialize(shown);
}

}  // namespace herald::runtime
