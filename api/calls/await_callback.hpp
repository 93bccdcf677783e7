// Turns callbacks on any thread into results for coroutines on their own loop.
#pragma once

#include <atomic>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "api/calls/time_limit.hpp"
#include "runtime/deadline.hpp"

namespace herald::api::calls {
namespace detail {

/// A coroutine that waits for a T. Everything but give() happens on its own loop. The value or the end of its
/// time resumes it, whichever is first; the other is dropped.
template <class T, class Handler>
class waiter : public std::enable_shared_from_this<waiter<T, Handler>> {
  public:
    explicit waiter(Handler handler)
        : x_executor(boost::asio::get_associated_executor(handler)), x_handler(std::move(handler)) {}

    /// On any thread, once.
    void give(T value) {
        x_is_given = true;
        boost::asio::post(x_executor, [self = this->shared_from_this(), value = std::move(value)]() mutable {
            self->resume(std::move(value));
        });
    }
    /// `limit` must outlive the wait.
    void end_at(const time_limit& limit) {
        if (x_is_given) return;
        x_deadline.emplace(limit.loop(), [self = this->shared_from_this(), &limit] {
            const auto kept = self;  // resume() destroys this function
            kept->resume(T(limit.passed()));
        });
        x_deadline->set(limit.at_ms());
    }

  private:
    void resume(T value) {
        if (!x_handler) return;
        x_deadline.reset();
        Handler handler = *std::exchange(x_handler, std::nullopt);
        std::move(handler)(std::move(value));
    }

    const boost::asio::associated_executor_t<Handler> x_executor;
    std::atomic<bool> x_is_given = false;
    std::optional<Handler> x_handler;  // empty once it was called
    std::optional<runtime::deadline> x_deadline;
};

template <class T, class Start>
boost::asio::awaitable<T> await_given(const Start& start, const time_limit* limit) {
    const auto initiate = [&start, limit](auto handler) {
        const auto waiting = std::make_shared<waiter<T, decltype(handler)>>(std::move(handler));
        start([waiting](T value) { waiting->give(std::move(value)); });
        if (limit) waiting->end_at(*limit);
    };
    auto token = boost::asio::use_awaitable;
    co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(initiate,
                                                                                                  token);
}

}  // namespace detail

/// Calls `start` with a function that takes one T (a result), and resumes on the coroutine's own executor
/// with what that function was given, or with limit.passed() if it was given nothing in time. The function
/// must be called at most once, on any thread, and may be called when the wait is over. `start` and `limit`
/// must outlive the await. Without a wait no timer is set.
template <class T, class Start>
boost::asio::awaitable<T> await_callback(const time_limit& limit, const Start& start) {
    return detail::await_given<T>(start, &limit);
}
/// For callees that always call back in time: the function must be called exactly once.
template <class T, class Start>
boost::asio::awaitable<T> await_callback(const Start& start) {
    return detail::await_given<T>(start, nullptr);
}

}  // namespace herald::api::calls
