// How much a worker that is short of CPU takes into memory: the rest stays in its topic, where lag shows it
// and other workers can take it (delivery.md §4, "Pace"). Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workers/lanes.hpp"

namespace herald::workers {

/// A worker whose loop is on time takes whatever its lanes have room for. A late one takes what it worked off
/// in the last two seconds. Only deliveries to receivers that answer well count: how soon the others start
/// does not depend on this worker.
class intake {
  public:
    void accepted() noexcept { ++x_accepted; }
    void attempted(std::int64_t now_ms) noexcept;
    /// To be called before each question; looks at the lanes now and then.
    void look(const lanes&, bool is_late, loop_time now);
    /// No further events. Once true, true until half of it is worked off: reading on and off costs, too.
    bool is_full() const noexcept { return x_is_full; }
    /// Nothing that waited for room, either: it goes before events.
    bool is_overfull() const noexcept { return x_waiting >= 2 * x_waiting_max; }

  private:
    std::size_t x_accepted = 0;  // since the last look
    std::int64_t x_looked_ms = 0;
    std::int64_t x_second_ms = 0;  // when the second began in which attempts are counted
    std::size_t x_attempted = 0;   // in it
    std::size_t x_rate = 0;        // in the second before
    std::size_t x_waiting = 0;
    std::size_t x_waiting_max = SIZE_MAX / 2;
    bool x_is_full = false;
};

}  // namespace herald::workers
