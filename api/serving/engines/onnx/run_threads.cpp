#include "api/serving/engines/onnx/run_threads.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api::serving::engines::onnx {

run_threads::run_threads(std::size_t threads_max)
    : x_threads_max(threads_max), x_shared(std::make_shared<shared>()) {}

run_threads::~run_threads() {
    const auto until = std::chrono::milliseconds(limits::onnx_ending_ms_max);
    bool have_ended = false;
    {
        const runtime::lock_guard lock(x_shared->mutex);
        x_shared->is_ending = true;
        x_shared->changed.notify_all();
        const bool is_mine = std::ranges::any_of(
            x_threads, [](const std::thread& each) { return each.get_id() == std::this_thread::get_id(); });
        have_ended = x_shared->ended.wait_for(x_shared->mutex, until, [&]() REQUIRES(x_shared->mutex) {
            return x_shared->running <= (is_mine ? 1U : 0U);
        });
    }
    for (auto& thread : x_threads) {
        // The last one that used it may be work of this very thread: it ends by itself, right after. So does
        // a run that is in the midst of a long operator: nothing can end that, and the process must not wait.
        if (!have_ended || thread.get_id() == std::this_thread::get_id())
            thread.detach();
        else
            thread.join();
    }
}

void run_threads::start(work what) {
    const runtime::lock_guard lock(x_shared->mutex);
    x_shared->waiting.push_back(std::move(what));
    if (x_shared->waiting.size() <= x_shared->idle || x_threads.size() >= x_threads_max)
        return x_shared->changed.notify_one();
    try {
        x_threads.emplace_back([shared = x_shared] { run(shared); });
        ++x_shared->running;
    } catch (const std::system_error& failed) {
        // The machine has no more threads: those that there are do it, or one that starts with later work.
        runtime::log(runtime::log_level::warning, runtime::log_events::task_failed,
                     {{"task", "start_model_thread"}, {"reason", failed.what()}});
    }
}

bool run_threads::is_there_more_of(const work& what) noexcept {
    try {
        return what();
    } catch (const std::exception& thrown) {
        runtime::log(runtime::log_level::error, runtime::log_events::task_failed,
                     {{"task", "run_model"}, {"reason", thrown.what()}});
    }
    return true;
}

void run_threads::run(const std::shared_ptr<shared>& with) {
    const runtime::lock_guard lock(with->mutex);
    for (;;) {
        ++with->idle;
        with->changed.wait(with->mutex, [&with]() REQUIRES(with->mutex) {
            return with->is_ending || !with->waiting.empty();
        });
        --with->idle;
        if (with->is_ending) {
            --with->running;
            with->ended.notify_all();
            return;
        }
        work next = std::move(with->waiting.front());
        with->waiting.pop_front();
        bool is_there_more = false;
        {
            const runtime::unlock_guard unlocked(with->mutex);
            is_there_more = is_there_more_of(next);
            if (!is_there_more) next = nullptr;  // with what it holds, before the mutex is taken again
        }
        if (is_there_more) with->waiting.push_back(std::move(next));
    }
}

}  // namespace herald::api::serving::engines::onnx
