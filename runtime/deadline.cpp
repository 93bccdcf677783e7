#include "runtime/deadline.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

namespace herald::runtime {

deadline::~deadline() {
    if (x_queued_ms) x_loop.remove(*x_queued_ms, *this);
}

void deadline::set(std::int64_t at_ms) {
    x_at_ms = at_ms;
    if (x_queued_ms && *x_queued_ms <= at_ms) return;
    if (x_queued_ms) x_loop.remove(*x_queued_ms, *this);
    x_queued_ms = at_ms;
    x_loop.add(at_ms, *this);
}

void deadline::due(std::int64_t now_ms) {
    x_queued_ms.reset();
    if (!x_at_ms) return;
    if (*x_at_ms > now_ms) return set(*x_at_ms);
    x_at_ms.reset();
    x_expired();
}

namespace detail {

boost::asio::awaitable<bool> run_for(event_loop& loop, std::int64_t ms, boost::asio::awaitable<void> work) {
    namespace asio = boost::asio;
    asio::cancellation_signal give_up;
    bool expired = false;
    deadline limit(loop, [&give_up, &expired] {
        expired = true;
        give_up.emit(asio::cancellation_type::terminal);
    });
    // Cancelling the caller also cancels the work.
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    asio::cancellation_slot caller = cancellation.slot();
    const auto forward = [&give_up](asio::cancellation_type type) { give_up.emit(type); };
    if (caller.is_connected()) caller.assign(forward);
    limit.set_after(ms);
    std::exception_ptr thrown;
    try {
        co_await asio::co_spawn(loop.context(), std::move(work),
                                asio::bind_cancellation_slot(give_up.slot(), asio::use_awaitable));
    } catch (...) {
        thrown = std::current_exception();
    }
    if (caller.is_connected()) caller.clear();
    if (thrown && !expired) std::rethrow_exception(thrown);
    co_return expired;
}

}  // namespace detail
}  // namespace herald::runtime
