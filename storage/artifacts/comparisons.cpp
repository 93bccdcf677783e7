#include "storage/artifacts/comparisons.hpp"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "runtime/completion.hpp"
#include "runtime/mutex.hpp"

namespace herald::storage::artifacts {

namespace asio = boost::asio;

class comparisons::queue : public std::enable_shared_from_this<queue> {
  public:
    using awaited = runtime::completion<result<void>>;

    queue(runtime::blocking_pool& pool, std::size_t at_a_time_max)
        : x_pool(pool), x_at_a_time_max(at_a_time_max) {}

    void join(const std::string& object, work compare, const std::shared_ptr<awaited>& who) {
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

    void leave(const std::string& object, const std::shared_ptr<awaited>& who) {
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
        std::vector<std::shared_ptr<awaited>> waiters;  // guarded by x_mutex
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
            const auto started = runtime::started_call<result<void>>::start(x_pool, compare);
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
    const auto outcome = std::make_shared<queue::awaited>();
    x_queue->join(object, std::move(compare), outcome);
    const auto cancelled = [&, all = x_queue] {
        all->leave(object, outcome);
        outcome->give(runtime::aborted("nobody waits any more"));
    };
    co_return co_await outcome->wait(cancelled);
}

}  // namespace herald::storage::artifacts
