// What one coroutine waits for and somebody else brings.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace herald::runtime {

/// A completion without its value: only this part waits.
class any_completion : public std::enable_shared_from_this<any_completion> {
  public:
    /// From then on only give_claimed() gives. False when another was faster.
    bool claim() noexcept { return !x_is_claimed.exchange(true, std::memory_order_acq_rel); }
    /// Nobody can give any more: the coroutine that waits, if one does, is destroyed on its executor, or
    /// together with it. Once no loop runs.
    void abandon() { x_resume = nullptr; }

    bool is_given() const noexcept { return x_state.load(std::memory_order_acquire) == state::given; }

    /// Until a value is given. `cancelled`, if any, is called on the coroutine's executor when the coroutine
    /// is cancelled; it gives a value, as a rule. `begin`, if any, is called when only a value can still end
    /// the wait, and not at all if there is a value already.
    boost::asio::awaitable<void> given(std::function<void()> cancelled = {},
                                       std::function<void()> begin = {});

  protected:
    /// The value is there.
    void resume();

  private:
    enum class state : std::uint8_t { open, awaited, given };

    std::function<void()> x_resume;
    std::atomic<bool> x_is_claimed = false;
    std::atomic<state> x_state = state::open;
};

/// A value that comes once. Owned by those who may give it, on any thread, and by the one coroutine that
/// waits.
///   twice       The first to give wins; what comes after is dropped.
///   the thread  The coroutine resumes on its own executor, never within the call of who gives.
///   cancelled   A cancelled coroutine goes on waiting, unless it says what to do then.
template <class T>
class completion : public any_completion {
  public:
    /// False: another was faster, and the value is dropped.
    bool give(T value) {
        if (!claim()) return false;
        give_claimed(std::move(value));
        return true;
    }
    void give_claimed(T value) {
        x_value.emplace(std::move(value));
        resume();
    }
    /// The given value, once.
    T take() { return *std::move(x_value); }

    boost::asio::awaitable<T> wait(std::function<void()> cancelled = {}) {
        co_await given(std::move(cancelled));
        co_return take();
    }

  private:
    std::optional<T> x_value;
};

}  // namespace herald::runtime
