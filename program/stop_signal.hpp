// How a process learns that it must end: by SIGTERM, SIGINT or SIGHUP, or from one of its parts.
#pragma once

#include <chrono>
#include <thread>

#include "program/limits.hpp"
#include "program/process_end.hpp"

namespace herald::program {

/// One in a process, created by the main thread before any other thread, so that all threads inherit the
/// blocked signals. From then on the process ends for certain: with exit code 1 when this object still exists
/// `ending` after a signal came, also during a start, or after wait() returned.
class stop_signal {
  public:
    /// Throws std::system_error.
    explicit stop_signal(std::chrono::milliseconds ending = std::chrono::milliseconds(limits::ending_ms_max));
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

  private:
    process_end next();
    void watch(std::chrono::milliseconds ending) const;

    int x_signals = -1;
    int x_requests[2] = {-1, -1};  // a pipe
    int x_told[2] = {-1, -1};      // a pipe: something in it means that the process is ending
    std::thread x_watch;
};

}  // namespace herald::program
