#include "api/serving/engines/onnx/run_watch.hpp"

#include <algorithm>
#include <chrono>

namespace herald::api::serving::engines::onnx {

run_watch::run_watch(std::shared_ptr<const runtime_library> library) : x_library(std::move(library)) {
    x_thread = std::thread([this] { run(); });
}

run_watch::~run_watch() {
    {
        const runtime::lock_guard lock(x_mutex);
        x_is_ending = true;
    }
    x_earlier.notify_one();
    x_thread.join();
}

void run_watch::begin(OrtRunOptions* options, std::int64_t deadline_ms) {
    if (deadline_ms == 0) return;
    bool is_earlier = false;
    {
        const runtime::lock_guard lock(x_mutex);
        x_runs.emplace(deadline_ms, options);
        is_earlier = deadline_ms < x_wakes_ms;
        x_wakes_ms = std::min(x_wakes_ms, deadline_ms);
    }
    if (is_earlier) x_earlier.notify_one();
}

void run_watch::end_early(OrtRunOptions* options, std::int64_t deadline_ms) {
    const runtime::lock_guard lock(x_mutex);
    // With the mutex held: the options belong to this run.
    if (x_runs.erase({deadline_ms, options}) != 0)
        static_cast<void>(x_library->checked(x_library->api().RunOptionsSetTerminate(options)));
}

bool run_watch::end(OrtRunOptions* options, std::int64_t deadline_ms) {
    if (deadline_ms == 0) return false;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_runs.erase({deadline_ms, options}) != 0) return false;
    }
    // Only a null pointer would make it fail.
    static_cast<void>(x_library->checked(x_library->api().RunOptionsUnsetTerminate(options)));
    return true;
}

void run_watch::run() {
    const runtime::lock_guard lock(x_mutex);
    while (!x_is_ending) {
        const std::int64_t now_ms = runtime::system_clock().steady_ms();
        // With the mutex held: nobody can have taken the options for another run.
        while (!x_runs.empty() && x_runs.begin()->first <= now_ms) {
            static_cast<void>(
                x_library->checked(x_library->api().RunOptionsSetTerminate(x_runs.begin()->second)));
            x_runs.erase(x_runs.begin());
        }
        x_wakes_ms = x_runs.empty() ? never : x_runs.begin()->first;
        if (x_wakes_ms == never)
            x_earlier.wait(x_mutex,
                           [this]() REQUIRES(x_mutex) { return x_is_ending || x_wakes_ms != never; });
        else
            x_earlier.wait_for(x_mutex, std::chrono::milliseconds(x_wakes_ms - now_ms));
    }
}

}  // namespace herald::api::serving::engines::onnx
