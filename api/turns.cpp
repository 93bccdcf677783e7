#include "api/turns.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_map>

#include "api/calls/await_callback.hpp"
#include "api/limits.hpp"
#include "runtime/mutex.hpp"

namespace herald::api {

class turns::queues : public std::enable_shared_from_this<queues> {
  public:
    using handler = std::function<void(result<turn>)>;

    void take(schemas::user_id user, runtime::scheduler& scheduler, handler done) {
        std::uint64_t number = 0;
        {
            const runtime::lock_guard lock(x_mutex);
            const auto [queue, is_first] = x_waiting.try_emplace(user);
            if (!is_first) {
                number = ++x_last_number;
                queue->second.push_back({number, done});
            }
        }
        if (number == 0) return done(turn_of(user));
        scheduler.run_at(scheduler.time().steady_ms() + limits::turn_wait_ms_max,
                         [weak = weak_from_this(), user, number] {
                             if (const auto self = weak.lock()) self->give_up(user, number);
                         });
    }

  private:
    struct waiter {
        std::uint64_t number = 0;
        handler done;
    };

    turn turn_of(schemas::user_id user) {
        return {nullptr, [weak = weak_from_this(), user](void*) {
                    if (const auto self = weak.lock()) self->pass_on(user);
                }};
    }

    void pass_on(schemas::user_id user) {
        handler next;
        {
            const runtime::lock_guard lock(x_mutex);
            const auto queue = x_waiting.find(user);
            if (queue->second.empty()) {
                x_waiting.erase(queue);
                return;
            }
            next = std::move(queue->second.front().done);
            queue->second.pop_front();
        }
        next(turn_of(user));
    }

    void give_up(schemas::user_id user, std::uint64_t number) {
        handler late;
        {
            const runtime::lock_guard lock(x_mutex);
            const auto queue = x_waiting.find(user);
            if (queue == x_waiting.end()) return;
            const auto at = std::find_if(queue->second.begin(), queue->second.end(),
                                         [&](const waiter& each) { return each.number == number; });
            if (at == queue->second.end()) return;
            late = std::move(at->done);
            queue->second.erase(at);
        }
        late(runtime::resource_exhausted({"another long search of this user has not ended within ",
                                          limits::turn_wait_ms_max / 1'000,
                                          " s; one runs at a time: wait for its answer"}));
    }

    runtime::mutex x_mutex;
    /// Users whose turn is taken, and the calls that wait for it.
    std::unordered_map<schemas::user_id, std::deque<waiter>> x_waiting GUARDED_BY(x_mutex);
    std::uint64_t x_last_number GUARDED_BY(x_mutex) = 0;
};

turns::turns() : x_queues(std::make_shared<queues>()) {}
turns::~turns() = default;

boost::asio::awaitable<result<turns::turn>> turns::take(schemas::user_id user,
                                                        runtime::scheduler& scheduler) {
    const auto start = [&](auto done) { x_queues->take(user, scheduler, std::move(done)); };
    co_return co_await calls::await_callback<result<turn>>(start);
}

}  // namespace herald::api
