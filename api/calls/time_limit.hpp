// How long a request may take: the deadline of its row, enforced wherever its handler waits.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/event_loop.hpp"

namespace herald::api::calls {

/// Begins when the service takes the request over. Each wait of the handler then ends with passed() at the
/// latest, so the handler ends by itself and leaves nothing behind (await_callback.hpp). Lives on the
/// request's loop, for as long as its handler; only is_over() may be called on any thread.
class time_limit {
  public:
    time_limit(runtime::event_loop& loop, std::int64_t ms)
        : x_loop(loop), x_ms(ms), x_at_ms(loop.time().steady_ms() + ms) {}

    runtime::event_loop& loop() const noexcept { return x_loop; }
    std::int64_t at_ms() const noexcept { return x_at_ms; }
    bool is_over() const noexcept { return x_loop.time().steady_ms() >= x_at_ms; }
    /// deadline_exceeded (504).
    error passed() const {
        return {error_code::deadline_exceeded,
                "there was no answer within " + std::to_string(x_ms) + " ms; try again"};
    }

  private:
    runtime::event_loop& x_loop;
    const std::int64_t x_ms;
    const std::int64_t x_at_ms;
};

}  // namespace herald::api::calls
