// What one coroutine waits for and somebody else brings.
#pragma once

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace herald::runtime {

/// A value that comes once. Owned by those who may give it, on any thread, and by the one coroutine that
/// waits.
///   twice       The first to give wins; what comes after is dropped.
///   the thread  The coroutine resumes on its own executor, never within the call of who gives.
///   cancelled   A cancelled coroutine goes on waiting, unless it says what to do then.
template <class T>
class completion : public std::enable_shared_from_this<completion<T>> {
  public:
    /// False: another was faster, and the value is dropped.
    bool give(T value) {
        if (!claim()) return false;
        give_claimed(std::move(value));
        return true;
    }
    /// From then on only give_claimed() gives. False when another was faster.
    bool claim() noexcept { return !x_is_claimed.exchange(true, std::memory_order_acq_rel); }
    void give_claimed(T value) {
        x_value.emplace(std::move(value));
        if (x_state.exchange(state::given, std::memory_order_acq_rel) == state::awaited)
            std::exchange(x_resume, nullptr)();
    }
    /// Nobody can give any more: the coroutine that waits, if one does, is destroyed on its executor, or
    /// together with it. Once no loop runs.
    void abandon() { x_resume = nullptr; }

    bool is_given() const noexcept { return x_state.load(std::memory_order_acquire) == state::given; }
    /// The given value, once.
    T take() { return *std::move(x_value); }

    /// Until a value is given. `cancelled`, if any, is called on the coroutine's executor when the coroutine
    /// is cancelled; it gives a value, as a rule. `begin`, if any, is called when only a value can still end
    /// the wait, and not at all if there is a value already.
    boost::asio::awaitable<void> given(std::function<void()> cancelled = {},
                                       std::function<void()> begin = {}) {
        if (is_given()) co_return;
        const auto initiate = [&, self = this->shared_from_this()](auto handler) {
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
    boost::asio::awaitable<T> wait(std::function<void()> cancelled = {}) {
        co_await given(std::move(cancelled));
        co_return take();
    }

  private:
    enum class state : std::uint8_t { open, awaited, given };

    std::optional<T> x_value;
    std::function<void()> x_resume;
    std::atomic<bool> x_is_claimed = false;
    std::atomic<state> x_state = state::open;
};

}  // namespace herald::runtime
