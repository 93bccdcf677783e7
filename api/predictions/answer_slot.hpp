// Where a model puts its answer. A quick one is there before anybody has to wait.
#pragma once

#include <atomic>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace herald::api::predictions {

/// Owned by the question and by whoever answers it. One gives, once, on any thread; one coroutine takes.
template <class T>
class answer_slot : public std::enable_shared_from_this<answer_slot<T>> {
  public:
    void give(T value) {
        x_value.emplace(std::move(value));
        if (x_state.exchange(state::given, std::memory_order_acq_rel) == state::awaited)
            std::exchange(x_resume, nullptr)();
    }

    bool is_given() const noexcept { return x_state.load(std::memory_order_acquire) == state::given; }
    T take() { return *std::move(x_value); }

    /// Until it is given. Resumes on the coroutine's own executor.
    boost::asio::awaitable<void> given() {
        const auto initiate = [self = this->shared_from_this()](auto handler) {
            const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            const auto executor = boost::asio::get_associated_executor(*kept);
            self->x_resume = [kept, executor] {
                boost::asio::post(executor, [kept] { std::move (*kept)(); });
            };
            if (self->x_state.exchange(state::awaited, std::memory_order_acq_rel) != state::given) return;
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
    std::atomic<state> x_state = state::open;
};

}  // namespace herald::api::predictions
