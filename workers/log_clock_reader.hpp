// Learns the log's clock: now and then it waits for the next record of the log.
#pragma once

#include <optional>

#include "events/log/tail.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"
#include "workers/log_clock.hpp"

namespace herald::workers {

/// Listens at the end of the commands, where every API node writes a heartbeat every few seconds (design.md
/// §1), and once a minute takes the time of one record: that was appended after the end had been asked for,
/// so it is fresh. Learns nothing while the log is out of reach or nobody appends. Lives on the scheduler's
/// thread; log and scheduler must outlive it.
class log_clock_reader {
  public:
    log_clock_reader(events::log::partitioned_log&, runtime::scheduler&);

    log_clock& clock() noexcept { return x_clock; }

  private:
    void listen();
    void heard(const events::log::read_batch&);

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    log_clock x_clock;
    runtime::lifetime x_lifetime;
    std::optional<events::log::tail> x_tail;  // while a record is wanted
};

}  // namespace herald::workers
