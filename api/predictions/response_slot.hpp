// Where a model puts its response. A quick one is there before anybody has to wait.
#pragma once

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "api/serving/component.hpp"
#include "runtime/error.hpp"

namespace herald::api::predictions {

/// Owned by the request and by the model. The first to give wins, on any thread; one coroutine
/// takes. `T` is a result.
template <class T>
class response_slot : public std::enable_shared_from_this<response_slot<T>> {
  public:
    /// Only the first response is kept.
    void give(T value) {
        if (claim()) give_claimed(std::move(value));
    }
    /// From then on only give_claimed() gives. False when another was faster.
    bool claim() noexcept { return !x_is_claimed.exchange(true, std::memory_order_acq_rel); }
    void give_claimed(T value) {
        x_value.emplace(std::move(value));
        if (x_state.exchange(state::given, std::memory_order_acq_rel) == state::awaited)
            std::exchange(x_resume, nullptr)();
    }
    /// Gives in place of the model, which need not answer any more.
    void give_up(error why) {
        give(T(std::move(why)));
        x_cancellation.cancel();
    }
    /// For the request; lives as long as the slot.
    std::shared_ptr<serving::engines::cancellation> cancellation() {
        return {this->shared_from_this(), &x_cancellation};
    }

    bool is_given() const noexcept { return x_state.load(std::memory_order_acquire) == state::given; }
    T take() { return *std::move(x_value); }

    /// Until it is given. Resumes on the coroutine's own executor; gives up when the coroutine is cancelled.
    /// `begin`, if any, is called when only a value can still end the wait, and not at all if there is a
    /// value already.
    boost::asio::awaitable<void> given(std::function<void()> begin = {}) {
        const auto initiate = [self = this->shared_from_this(), &begin](auto handler) {
            const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            const auto executor = boost::asio::get_associated_executor(*kept);
            auto stop = boost::asio::get_associated_cancellation_slot(*kept);
            if (stop.is_connected())
                stop.assign([weak = self->weak_from_this()](boost::asio::cancellation_type) {
                    if (const auto waited = weak.lock())
                        waited->give_up(
                            runtime::unavailable("this node is shutting down; retry on another node"));
                });
            self->x_resume = [kept, executor] {
                boost::asio::post(executor, [kept] { std::move (*kept)(); });
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

  private:
    enum class state : std::uint8_t { open, awaited, given };

    std::optional<T> x_value;
    std::function<void()> x_resume;
    std::atomic<bool> x_is_claimed = false;
    std::atomic<state> x_state = state::open;
    serving::engines::cancellation x_cancellation;
};

}  // namespace herald::api::predictions
