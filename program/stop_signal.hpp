// How a process learns that it must end: by SIGTERM, by SIGINT, or from one of its parts.
#pragma once

#include "program/process_end.hpp"

namespace herald::program {

/// One in a process, created by the main thread before any other thread, so that all threads inherit the
/// blocked signals.
class stop_signal {
  public:
    stop_signal();
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
    int x_signals = -1;
    int x_requests[2] = {-1, -1};  // a pipe
};

}  // namespace herald::program
