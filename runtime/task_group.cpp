#include "runtime/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <future>
#include <limits>

#include "runtime/assert.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::runtime {
namespace {

void report(const char* name, const std::exception_ptr& failed) {
    try {
        std::rethrow_exception(failed);
    } catch (const boost::system::system_error& thrown) {
        if (thrown.code() == boost::asio::error::operation_aborted) return;
        log(log_level::error, log_events::task_failed, {{"task", name}, {"reason", thrown.what()}});
    } catch (const std::exception& thrown) {
        log(log_level::error, log_events::task_failed, {{"task", name}, {"reason", thrown.what()}});
    }
}

}  // namespace

task_group::~task_group() { HERALD_ASSERT(x_tasks.empty()); }

void task_group::start(const char* name, boost::asio::awaitable<void> work) {
    boost::asio::dispatch(x_loop.context(), [this, name, work = std::move(work)]() mutable {
        if (!x_cancelled) begin(name, std::move(work));
    });
}

void task_group::begin(const char* name, boost::asio::awaitable<void> work) {
    const auto mine = x_tasks.emplace(x_tasks.end());
    boost::asio::co_spawn(x_loop.context(), std::move(work),
                          boost::asio::bind_cancellation_slot(
                              mine->slot(), [this, name, mine](const std::exception_ptr& failed) {
                                  if (failed) report(name, failed);
                                  ended(mine);
                              }));
}

void task_group::ended(std::list<boost::asio::cancellation_signal>::iterator which) {
    x_tasks.erase(which);
    if (!x_tasks.empty()) return;
    for (const auto& tell : std::exchange(x_waiting, {})) tell();
}

void task_group::cancel() {
    boost::asio::dispatch(x_loop.context(), [this] {
        x_cancelled = true;
        // A task may end while it is being cancelled, and remove its signal.
        for (auto next = x_tasks.begin(); next != x_tasks.end();) {
            auto& signal = *next++;
            signal.emit(boost::asio::cancellation_type::terminal);
        }
    });
}

bool task_group::join(std::int64_t ms) {
    HERALD_ASSERT(!x_loop.is_current());
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> all_ended = done->get_future();
    x_loop.post([this, done] {
        if (x_tasks.empty()) return done->set_value();
        x_waiting.push_back([done] { done->set_value(); });
    });
    if (ms == std::numeric_limits<std::int64_t>::max()) {
        all_ended.wait();
        return true;
    }
    return all_ended.wait_for(std::chrono::milliseconds(ms)) == std::future_status::ready;
}

void task_group::stop() {
    cancel();
    join(std::numeric_limits<std::int64_t>::max());
}

}  // namespace herald::runtime
