#include "storage/artifacts/comparisons.hpp"

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "runtime/mutex.hpp"

namespace herald::storage::artifacts {

namespace asio = boost::asio;

/// A coroutine that waits. All but give() is used on its loop.
class comparisons::waiter : public std::enable_shared_from_this<waiter> {
  public:
    explicit waiter(asio::any_io_executor loop) : x_loop(std::move(loop)) {}

    const asio::any_io_executor& loop() const noexcept { return x_loop; }
    /// On any thread.
    void give(result<void> outcome) {
        asio::post(x_loop, [self = shared_from_this(), outcome = std::move(outcome)]() mutable {
            self->end(std::move(outcome));
        });
    }
    void end(result<void> outcome) {
        if (x_outcome) return;
        x_outcome = std::move(outcome);
        if (const auto resume = std::exchange(x_resume, nullptr)) resume();
    }
    bool has_ended() const noexcept { return x_outcome.has_value(); }
    result<void> outcome() { return *std::move(x_outcome); }
    void resume_by(std::function<void()> resume) { x_resume = std::move(resume); }

  private:
    const asio::any_io_executor x_loop;
    std::optional<result<void>> x_outcome;
    std::function<void()> x_resume;
};

class comparisons::queue : public std::enable_shared_from_this<queue> {
  public:
    queue(runtime::blocking_pool& pool, std::size_t at_a_time_max)
        : x_pool(pool), x_at_a_time_max(at_a_time_max) {}

    void join(const std::string& object, work compare, const std::shared_ptr<waiter>& who) {
        const runtime::lock_guard lock(x_mutex);
        auto& flight = x_flights[object];
        if (!flight) {
            flight = std::make_shared<comparison>();
            flight->object = object;
            flight->compare = std::move(compare);
            x_waiting.push_back(flight);
        }
        flight->waiters.push_back(who);
        start_some();
    }

    void leave(const std::string& object, const std::shared_ptr<waiter>& who) {
        const runtime::lock_guard lock(x_mutex);
        const auto found = x_flights.find(object);
        if (found == x_flights.end()) return;
        const std::shared_ptr<comparison> flight = found->second;
        std::erase(flight->waiters, who);
        if (!flight->waiters.empty()) return;
        flight->is_unwanted = true;
        std::erase(x_waiting, flight);
        x_flights.erase(found);
    }

  private:
    struct comparison {
        std::string object;
        work compare;
        std::atomic<bool> is_unwanted = false;
        std::vector<std::shared_ptr<waiter>> waiters;  // guarded by x_mutex
    };

    void start_some() REQUIRES(x_mutex) {
        while (x_running < x_at_a_time_max && !x_waiting.empty()) {
            const std::shared_ptr<comparison> flight = x_waiting.front();
            x_waiting.pop_front();
            const auto compare = [self = shared_from_this(), flight]() -> result<void> {
                const auto outcome = self->compared(*flight);
                self->ended(flight, outcome);
                return outcome;
            };
            const auto started =
                runtime::started_call<result<void>>::start(x_pool, flight->waiters.front()->loop(), compare);
            if (started) {
                ++x_running;
                continue;
            }
            for (const auto& each : flight->waiters) each->give(started.error());
            x_flights.erase(flight->object);
        }
    }

    static result<void> compared(comparison& flight) {
        try {
            return flight.compare(flight.is_unwanted);
        } catch (const std::exception& thrown) {
            return runtime::internal(thrown.what());
        }
    }

    void ended(const std::shared_ptr<comparison>& flight, const result<void>& outcome) {
        const runtime::lock_guard lock(x_mutex);
        --x_running;
        if (const auto found = x_flights.find(flight->object);
            found != x_flights.end() && found->second == flight)
            x_flights.erase(found);
        for (const auto& each : flight->waiters) each->give(outcome);
        start_some();
    }

    runtime::blocking_pool& x_pool;
    const std::size_t x_at_a_time_max;
    runtime::mutex x_mutex;
    std::map<std::string, std::shared_ptr<comparison>> x_flights GUARDED_BY(x_mutex);  // that are wanted
    std::deque<std::shared_ptr<comparison>> x_waiting GUARDED_BY(x_mutex);             // of these
    std::size_t x_running GUARDED_BY(x_mutex) = 0;
};

comparisons::comparisons(runtime::blocking_pool& pool, std::size_t at_a_time_max)
    : x_queue(std::make_shared<queue>(pool, at_a_time_max)) {}
comparisons::~comparisons() = default;

asio::awaitable<result<void>> comparisons::wait_for(std::string object, work compare) {
    const auto loop = co_await asio::this_coro::executor;
    const auto who = std::make_shared<waiter>(loop);
    x_queue->join(object, std::move(compare), who);
    const auto initiate = [&](auto handler) {
        auto slot = asio::get_associated_cancellation_slot(handler);
        const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        who->resume_by([kept, slot]() mutable {
            if (slot.is_connected()) slot.clear();
            std::move (*kept)();
        });
        if (!slot.is_connected()) return;
        slot.assign([all = x_queue, object, who](asio::cancellation_type) {
            all->leave(object, who);
            who->give(runtime::aborted("nobody waits any more"));
        });
    };
    auto token = asio::use_awaitable;
    if (!who->has_ended())
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, token);
    co_return who->outcome();
}

}  // namespace herald::storage::artifacts
