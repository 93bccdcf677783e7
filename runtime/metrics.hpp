// The process's counters, in the text form that Prometheus reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/metric_names.hpp"

namespace herald::runtime {

// A metric is looked up by name and labels once (this takes a lock and may allocate) and kept as a reference,
// which is valid as long as the process lives. Counting takes no lock. Both on any thread. The names are an
// interface for operators: `herald_<what>_<unit>`; counters end in `_total`.

/// Only goes up.
class counter {
  public:
    void add(std::uint64_t by = 1) noexcept { x_value.fetch_add(by, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return x_value.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> x_value{0};
};

/// Goes up and down.
class gauge {
  public:
    void set(std::int64_t value) noexcept { x_value.store(value, std::memory_order_relaxed); }
    void add(std::int64_t by) noexcept { x_value.fetch_add(by, std::memory_order_relaxed); }
    std::int64_t value() const noexcept { return x_value.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::int64_t> x_value{0};
};

/// Durations; each is counted in the first bucket whose bound it does not exceed.
class histogram {
  public:
    /// Upper bounds in microseconds, ascending; they must live as long as the process.
    explicit histogram(std::span<const std::int64_t> bounds_us);
    void observe_us(std::int64_t duration_us) noexcept;

    std::span<const std::int64_t> bounds_us() const noexcept { return x_bounds_us; }
    /// How many are in bucket `index`; the one after the last bound holds the rest.
    std::uint64_t count(std::size_t index) const noexcept {
        return x_counts[index].load(std::memory_order_relaxed);
    }
    std::int64_t sum_us() const noexcept { return x_sum_us.load(std::memory_order_relaxed); }

  private:
    std::span<const std::int64_t> x_bounds_us;
    std::unique_ptr<std::atomic<std::uint64_t>[]> x_counts;
    std::atomic<std::int64_t> x_sum_us{0};
};

struct metric_label {
    std::string_view name;
    std::string_view value;
};
using metric_labels = std::initializer_list<metric_label>;

/// Beyond limits::metric_label_values_max values of the first label of one name it is "other"; what the other
/// labels say stays, so their values must be few.
/// One name is always of one kind and has the same label names; anything else is a bug and stops the process.
counter& metric_counter(std::string_view name, std::string_view help, metric_labels = {});
gauge& metric_gauge(std::string_view name, std::string_view help, metric_labels = {});
/// Shown in seconds; bounds from 50 µs to 60 s.
histogram& metric_histogram(std::string_view name, std::string_view help, metric_labels = {});

inline counter& metric_counter(const metric_name& of, metric_labels labels = {}) {
    return metric_counter(of.name, of.help, labels);
}
inline gauge& metric_gauge(const metric_name& of, metric_labels labels = {}) {
    return metric_gauge(of.name, of.help, labels);
}
inline histogram& metric_histogram(const metric_name& of, metric_labels labels = {}) {
    return metric_histogram(of.name, of.help, labels);
}

/// The same for a first label that comes and goes: once nobody holds it, the metric disappears from the text.
/// All metrics of one name are held, or none.
std::shared_ptr<counter> held_counter(const metric_name&, metric_labels);
std::shared_ptr<gauge> held_gauge(const metric_name&, metric_labels);
std::shared_ptr<histogram> held_histogram(const metric_name&, metric_labels);

/// Sets metrics whose values are determined only on request: while the handle lives, metrics_text() calls
/// `show` on its own thread before it reads them. Destroying the handle waits for a running call, so `show`
/// must neither destroy it nor call metrics_text().
using metrics_source = std::shared_ptr<void>;
[[nodiscard]] metrics_source add_metrics_source(std::function<void()> show);

/// All metrics, including those of the process itself (`process_*`), in the Prometheus text format, version
/// 0.0.4; the answer to GET /metrics.
std::string metrics_text();

}  // namespace herald::runtime
