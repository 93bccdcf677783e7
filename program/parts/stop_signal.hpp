// How a process learns that it must end: by SIGTERM, SIGINT or SIGHUP, or from one of its parts.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "program/options/limits.hpp"
#include "program/parts/process_end.hpp"

namespace herald::program {

/// All from the moment at which the process is told to end.
struct ending_times {
    std::chrono::milliseconds ending{limits::ending_ms_max};
    std::chrono::milliseconds closing{limits::closed_ms_max};
    std::chrono::milliseconds starting{limits::start_ends_ms_max};  // for a start that is nearly done
};

/// One in a process, created by the main thread before any other thread, so that all threads inherit the
/// blocked signals. From then on the process ends for certain. Until wait() is called it only starts, and
/// nobody has its promise yet: a signal ends it there and then, with exit code 0, wherever the start hangs.
/// After that it ends with exit code 1 when this object still exists `ending` after a signal came, or after
/// wait() returned; and as wait() said when all is drained and only closing takes longer than `closing`, as
/// that of Kafka's clients does while the brokers are away.
class stop_signal {
  public:
    /// Throws std::system_error.
    explicit stop_signal(ending_times = {});
    ~stop_signal();
    stop_signal(const stop_signal&) = delete;
    stop_signal& operator=(const stop_signal&) = delete;

    /// Callable on any thread. The first request counts.
    void request(process_end) noexcept;
    end_request requester() {
        return [this](process_end how) { request(how); };
    }
    /// Blocks until there is a reason to end.
    process_end wait();
    /// What was in flight is done, and nothing is lost if the process ends without closing what it has open.
    void drained() noexcept { x_is_drained = true; }

  private:
    process_end next();
    void watch(const ending_times&) const;
    void end_a_start(std::chrono::milliseconds within) const;

    std::atomic<bool> x_is_started = false;
    std::atomic<bool> x_is_drained = false;
    std::atomic<process_end> x_end = process_end::done;  // as wait() said
    int x_signals = -1;
    int x_requests[2] = {-1, -1};  // a pipe
    int x_told[2] = {-1, -1};      // a pipe: something in it means that the process is ending
    std::thread x_watch;
};

}  // namespace herald::program
