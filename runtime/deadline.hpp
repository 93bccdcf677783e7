// Deadlines: for a long-lived object (a connection), and for one awaited operation.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"

namespace herald::runtime {

/// Calls `expired` on the loop's thread once its time has passed; then it is inactive until set again.
/// Postponing it costs only a store: the loop checks again at the old time. Belongs to one loop and its
/// thread; `expired` may destroy it.
class deadline {
  public:
    deadline(event_loop& loop, std::function<void()> expired) : x_loop(loop), x_expired(std::move(expired)) {}
    ~deadline();
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    /// In the loop's steady time (scheduler::time()); replaces the previous time.
    void set(std::int64_t at_ms);
    /// `ms` from now.
    void set_after(std::int64_t ms) { set(x_loop.time().steady_ms() + ms); }
    void clear() noexcept { x_at_ms.reset(); }

  private:
    friend class event_loop;
    void due(std::int64_t now_ms);

    event_loop& x_loop;
    std::function<void()> x_expired;
    std::optional<std::int64_t> x_at_ms;
    std::optional<std::int64_t> x_queued_ms;  // its time in the loop's queue
};

namespace detail {

/// Runs `work` and cancels it after `ms`. True when it was cancelled; whatever it threw is then dropped.
boost::asio::awaitable<bool> run_for(event_loop&, std::int64_t ms, boost::asio::awaitable<void> work);

template <class T>
boost::asio::awaitable<void> keep(boost::asio::awaitable<result<T>> work, std::optional<result<T>>& out) {
    result<T> value = co_await std::move(work);
    out.emplace(std::move(value));
}

}  // namespace detail

/// Awaits `work` for at most `ms`, then cancels it and waits until it has ended. Passes on a value that it
/// still returns then, and everything that it returns or throws in time. Only from the loop's thread. Errors:
/// those of `work`; deadline_exceeded naming `what`.
template <class T>
boost::asio::awaitable<result<T>> with_deadline(event_loop& loop, std::int64_t ms, std::string what,
                                                boost::asio::awaitable<result<T>> work) {
    std::optional<result<T>> out;
    const bool expired = co_await detail::run_for(loop, ms, detail::keep(std::move(work), out));
    if (expired && !(out && out->has_value())) {
        error late{error_code::deadline_exceeded, what + " took longer than " + std::to_string(ms) + " ms"};
        co_return late;
    }
    co_return std::move(*out);
}

}  // namespace herald::runtime
