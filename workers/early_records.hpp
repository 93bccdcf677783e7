// Records of a partition that were read before they are due: kept in memory, since going back
// in the log would read them again (kafka.md §2). Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "workers/log_clock.hpp"
#include "workers/retry_policy.hpp"

namespace herald::workers {

/// In the log's order. The partition is paused while there is one, so the queue holds only what the log had
/// already handed out: less than limits::member_poll_bytes_max plus one record. A record is due when its
/// delay since the append is over by the log's clock, but never later than the delay after it was read. Nor
/// is it due earlier than the delay after a moment at which it was not in the log yet (appended_after): the
/// log's clock may have gone back, and then a newly appended record looks old.
class early_records {
  public:
    explicit early_records(std::int64_t delay_ms) : x_delay_ms(delay_ms) {}

    void add(events::log::record what, std::int64_t steady_ms) {
        x_bytes += events::log::bytes_of(what);
        x_records.push_back({std::move(what), steady_ms + x_delay_ms});
    }
    /// Null when there is none; valid until pop().
    const events::log::record* first() const { return x_records.empty() ? nullptr : &x_records.front().what; }
    /// The first record if it is due, otherwise null; valid until pop().
    const events::log::record* due(const runtime::clock& own, const log_clock& logs) const {
        const auto due_ms = next_due_ms(own, logs);
        return due_ms && *due_ms <= own.steady_ms() ? &x_records.front().what : nullptr;
    }
    void pop() {
        x_bytes -= events::log::bytes_of(x_records.front().what);
        x_records.pop_front();
    }
    /// Whether the first record is due by the log's clock alone: it has been here for less than half its
    /// delay. Before it is handed over, the partition's end must be asked for: its successor may be appended
    /// to the same partition, and would be due at once, over and over.
    bool is_doubtful(const runtime::clock& own) const {
        const early& first = x_records.front();
        return own.steady_ms() < first.due_ms_max - x_delay_ms / 2 && first.what.offset >= x_end_offset;
    }
    /// At `steady_ms` the partition's end was still before `offset`.
    void appended_after(std::int64_t steady_ms, std::int64_t offset) {
        x_end_offset = std::max(x_records.empty() ? offset : x_records.front().what.offset + 1, offset);
        x_end_seen_ms = steady_ms;
    }
    /// Steady time at which the first record is due, as far as is known now; knowledge of the log's clock
    /// changes.
    std::optional<std::int64_t> next_due_ms(const runtime::clock& own, const log_clock& logs) const {
        if (x_records.empty()) return std::nullopt;
        const early& first = x_records.front();
        const std::int64_t steady_ms = own.steady_ms();
        const std::int64_t wait_ms = still_to_wait_ms(first.what.time_ms, x_delay_ms, logs.now_ms(own));
        const bool is_younger = first.what.offset >= x_end_offset;
        const std::int64_t due_ms_min = is_younger ? x_end_seen_ms + x_delay_ms : steady_ms;
        return std::min(first.due_ms_max, std::max(steady_ms + wait_ms, due_ms_min));
    }

    /// The first record's time by the log's clock.
    std::optional<std::int64_t> oldest_ms() const {
        if (x_records.empty()) return std::nullopt;
        return x_records.front().what.time_ms;
    }
    std::size_t bytes() const noexcept { return x_bytes; }

  private:
    struct early {
        events::log::record what;
        std::int64_t due_ms_max = 0;  // steady
    };

    std::int64_t x_delay_ms;
    std::deque<early> x_records;
    std::size_t x_bytes = 0;
    std::int64_t x_end_offset = 0;
    std::int64_t x_end_seen_ms = INT64_MIN / 2;
};

}  // namespace herald::workers
