// Turns callbacks on any thread into results for coroutines on their own loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <utility>

#include "api/calls/time_limit.hpp"
#include "runtime/completion.hpp"
#include "runtime/deadline.hpp"

namespace herald::api::calls {
/// Calls `start` with a function that takes one T (a result), and resumes on the coroutine's own executor
/// with what that function was given, or with limit.passed() if it was given nothing in time. The function
/// may be called on any thread, also when the wait is over. `start` and `limit` must outlive the await.
/// Without a wait no timer is set.
template <class T, class Start>
boost::asio::awaitable<T> await_callback(const time_limit& limit, const Start& start) {
    const auto came = std::make_shared<runtime::completion<T>>();
    start([came](T value) { came->give(std::move(value)); });
    if (came->is_given()) co_return came->take();
    runtime::deadline late(limit.loop(), [&] { came->give(T(limit.passed())); });
    late.set(limit.at_ms());
    co_await came->given();
    co_return came->take();
}
/// For callees that always call back in time.
template <class T, class Start>
boost::asio::awaitable<T> await_callback(const Start& start) {
    const auto came = std::make_shared<runtime::completion<T>>();
    start([came](T value) { came->give(std::move(value)); });
    co_await came->given();
    co_return came->take();
}

}  // namespace herald::api::calls
