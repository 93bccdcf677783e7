#include "api/serving/engines/onnx/run_threads.hpp"

#include <utility>

namespace herald::api::serving::engines::onnx {

run_threads::run_threads(std::size_t threads_max)
    : x_threads_max(threads_max), x_shared(std::make_shared<shared>()) {}

run_threads::~run_threads() {
    {
        const runtime::lock_guard lock(x_shared->mutex);
        x_shared->is_ending = true;
    }
    x_shared->changed.notify_all();
    for (auto& thread : x_threads) {
        // The last one that used it may be work of this very thread: it ends by itself, right after.
        if (thread.get_id() == std::this_thread::get_id())
            thread.detach();
        else
            thread.join();
    }
}

void run_threads::start(work what) {
    const runtime::lock_guard lock(x_shared->mutex);
    x_shared->waiting.push_back(std::move(what));
    if (x_shared->waiting.size() > x_shared->idle && x_threads.size() < x_threads_max)
        x_threads.emplace_back([shared = x_shared] { run(shared); });
    else
        x_shared->changed.notify_one();
}

void run_threads::run(const std::shared_ptr<shared>& with) {
    const runtime::lock_guard lock(with->mutex);
    for (;;) {
        ++with->idle;
        with->changed.wait(with->mutex, [&with]() REQUIRES(with->mutex) {
            return with->is_ending || !with->waiting.empty();
        });
        --with->idle;
        if (with->is_ending) return;
        work next = std::move(with->waiting.front());
        with->waiting.pop_front();
        const runtime::unlock_guard unlocked(with->mutex);
        next();
        next = nullptr;  // with what it holds, before the mutex is taken again
    }
}

}  // namespace herald::api::serving::engines::onnx
