// Hears the log's clock: now and then it waits for the next record of the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/scheduler.hpp"
#include "workers/lifetime.hpp"
#include "workers/log_clock.hpp"

namespace herald::workers {

/// Listens at the end of the commands, where every API node says every few seconds that it lives (design.md
/// §1), and once a minute takes the time of one record: it was appended after the end had been asked for, so
/// it is fresh. While the log is out of reach or nobody appends, nothing is heard. Lives on the scheduler's
/// thread; log and scheduler must outlive it.
class log_clock_reader {
  public:
    log_clock_reader(events::log::partitioned_log&, runtime::scheduler&);

    log_clock& clock() noexcept { return x_clock; }

  private:
    void tick();
    void listen();
    void opened(const result<events::log::offset_range>&);
    void poll();

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    log_clock x_clock;
    std::int64_t x_listen_ms = 0;  // steady time from when on a record is wanted
    bool x_asking = false;
    const std::shared_ptr<std::atomic<bool>> x_poll_posted = std::make_shared<std::atomic<bool>>(false);
    lifetime x_lifetime;
    std::unique_ptr<events::log::reader> x_reader;  // last: it may notify until it is gone
};

}  // namespace herald::workers
