// Records of a retry topic's partition that were read before they are due: kept in memory, for going back in
// the log would read them again (kafka.md §2). Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "events/log.hpp"
#include "workers/retry_policy.hpp"

namespace herald::workers {

/// In the order of the log. The partition is paused while one is here, so there are only those that the log
/// had already handed out.
class early_records {
  public:
    explicit early_records(std::int64_t delay_ms) : x_delay_ms(delay_ms) {}

    void add(events::record what, std::int64_t wall_ms, std::int64_t steady_ms) {
        const std::int64_t wait_ms = still_to_wait_ms(what.time_ms, x_delay_ms, wall_ms);
        x_records.push_back({std::move(what), steady_ms + wait_ms});
    }
    /// The first record, when it is due.
    std::optional<events::record> take_due(std::int64_t steady_ms) {
        if (x_records.empty() || x_records.front().due_ms > steady_ms) return std::nullopt;
        std::optional<events::record> due = std::move(x_records.front().what);
        x_records.pop_front();
        return due;
    }
    /// Steady time at which the first record is due.
    std::optional<std::int64_t> next_due_ms() const {
        if (x_records.empty()) return std::nullopt;
        return x_records.front().due_ms;
    }

  private:
    struct early {
        events::record what;
        std::int64_t due_ms = 0;
    };

    std::int64_t x_delay_ms;
    std::deque<early> x_records;
};

}  // namespace herald::workers
