// What a worker has still to deliver: operators scale workers by it. Deliveries that wait for a failure's
// retry, a breaker or a receiver's pause do not count, since more workers do not make them fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace herald::workers {

/// As of the last time the ends of the topics were asked for. Summed over all workers it is what is missing
/// at the receivers.
struct worker_backlog {
    std::uint64_t unread = 0;  // in its partitions: estimated from the events that it read last
    std::uint64_t memory = 0;
    std::uint64_t room = 0;              // in its partitions of the topics of deliveries that wait for room
    std::int64_t oldest_ms = INT64_MAX;  // log time of the event that has waited longest
};

/// The mean of the last 1,000 values; 1 before the first.
class recent_mean {
  public:
    void add(std::size_t value) {
        x_sum += value;
        x_values.push_back(value);
        if (x_values.size() <= count_max) return;
        x_sum -= x_values.front();
        x_values.pop_front();
    }
    double mean() const noexcept {
        return x_values.empty() ? 1 : static_cast<double>(x_sum) / static_cast<double>(x_values.size());
    }

  private:
    static constexpr std::size_t count_max = 1'000;
    std::deque<std::size_t> x_values;
    std::size_t x_sum = 0;
};

}  // namespace herald::workers
