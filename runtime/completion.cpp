#include "runtime/completion.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace herald::runtime {

void any_completion::resume() {
    if (x_state.exchange(state::given, std::memory_order_acq_rel) == state::awaited)
        std::exchange(x_resume, nullptr)();
}

boost::asio::awaitable<void> any_completion::given(std::function<void()> cancelled,
                                                   std::function<void()> begin) {
    if (is_given()) co_return;
    const auto initiate = [&, self = shared_from_this()](auto handler) {
        auto stop = boost::asio::get_associated_cancellation_slot(handler);
        const auto back = boost::asio::get_associated_executor(handler);
        const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        if (cancelled && stop.is_connected())
            stop.assign([weak = self->weak_from_this(), cancelled](boost::asio::cancellation_type) {
                if (const auto waited = weak.lock()) cancelled();
            });
        self->x_resume = [kept, back, stop] {
            boost::asio::post(back, [kept, stop]() mutable {
                if (stop.is_connected()) stop.clear();
                std::move (*kept)();
            });
        };
        if (self->x_state.exchange(state::awaited, std::memory_order_acq_rel) != state::given) {
            if (begin) begin();
            return;
        }
        self->x_state.store(state::given, std::memory_order_release);
        std::exchange(self->x_resume, nullptr)();
    };
    auto token = boost::asio::use_awaitable;
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(initiate, token);
}

}  // namespace herald::runtime
