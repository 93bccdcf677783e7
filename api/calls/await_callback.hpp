// Turns callbacks on any thread into results for coroutines on their own loop.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

namespace herald::api::calls {

/// Calls `start` with a function that takes one T, and resumes on the coroutine's own executor with what that
/// function was given. The function must be called exactly once, on any thread. `start` must outlive the
/// await.
template <class T, class Start>
boost::asio::awaitable<T> await_callback(const Start& start) {
    const auto initiate = [&start](auto handler) {
        using handler_type = decltype(handler);
        const auto executor = boost::asio::get_associated_executor(handler);
        const auto waiting = std::make_shared<handler_type>(std::move(handler));
        start([waiting, executor](T value) {
            boost::asio::post(
                executor, [waiting, value = std::move(value)]() mutable { (*waiting)(std::move(value)); });
        });
    };
    auto token = boost::asio::use_awaitable;
    co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(initiate,
                                                                                                  token);
}

}  // namespace herald::api::calls
