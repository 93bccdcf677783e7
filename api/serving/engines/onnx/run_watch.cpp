#include "api/serving/engines/onnx/run_watch.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api::serving::engines::onnx {

void late_runs::add(std::int64_t late_ms) {
    x_count.fetch_add(1, std::memory_order_relaxed);
    if (x_is_told.exchange(true)) return;
    runtime::log(runtime::log_level::error, runtime::log_events::model_run_stuck,
                 {{"build", static_cast<std::int64_t>(x_of.value)}, {"late_ms", late_ms}});
}

run_watch::run_watch(std::shared_ptr<const runtime_library> library, std::int64_t late_ms)
    : x_library(std::move(library)), x_late_ms(late_ms) {
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

void run_watch::begin(OrtRunOptions* options, std::int64_t deadline_ms, late_runs* late) {
    if (deadline_ms == 0) return;
    bool is_earlier = false;
    {
        const runtime::lock_guard lock(x_mutex);
        x_runs.emplace(run_key(deadline_ms, options), late);
        is_earlier = deadline_ms < x_wakes_ms;
        x_wakes_ms = std::min(x_wakes_ms, deadline_ms);
    }
    if (is_earlier) x_earlier.notify_one();
}

void run_watch::end_early(OrtRunOptions* options, std::int64_t deadline_ms) {
    {
        const runtime::lock_guard lock(x_mutex);
        // With the mutex held: the options belong to this run.
        const auto found = x_runs.find({deadline_ms, options});
        if (found == x_runs.end()) return;
        const std::int64_t now_ms = runtime::system_clock().steady_ms();
        ask_to_end(found, now_ms);
        if (now_ms + x_late_ms >= x_wakes_ms) return;
        x_wakes_ms = now_ms + x_late_ms;
    }
    x_earlier.notify_one();
}

bool run_watch::end(OrtRunOptions* options, std::int64_t deadline_ms) {
    if (deadline_ms == 0) return false;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_runs.erase({deadline_ms, options}) != 0) return false;
        if (const auto asked = x_asked.extract(options); asked && asked.mapped().is_late)
            asked.mapped().late->remove();
    }
    // Only a null pointer would make it fail.
    static_cast<void>(x_library->checked(x_library->api().RunOptionsUnsetTerminate(options)));
    return true;
}

void run_watch::ask_to_end(std::map<run_key, late_runs*>::iterator which, std::int64_t now_ms) {
    OrtRunOptions* const options = which->first.second;
    static_cast<void>(x_library->checked(x_library->api().RunOptionsSetTerminate(options)));
    x_asked[options] = {now_ms + x_late_ms, which->second};
    x_runs.erase(which);
}

/// When the next one is late.
std::int64_t run_watch::look_for_late(std::int64_t now_ms) {
    std::int64_t next_ms = never;
    for (auto& [options, asked] : x_asked) {
        if (asked.is_late || !asked.late) continue;
        if (asked.late_from_ms > now_ms) {
            next_ms = std::min(next_ms, asked.late_from_ms);
        } else {
            asked.is_late = true;
            asked.late->add(x_late_ms);
        }
    }
    return next_ms;
}

void run_watch::run() {
    const runtime::lock_guard lock(x_mutex);
    while (!x_is_ending) {
        const std::int64_t now_ms = runtime::system_clock().steady_ms();
        // With the mutex held: nobody can have taken the options for another run.
        while (!x_runs.empty() && x_runs.begin()->first.first <= now_ms) ask_to_end(x_runs.begin(), now_ms);
        x_wakes_ms = look_for_late(now_ms);
        if (!x_runs.empty()) x_wakes_ms = std::min(x_wakes_ms, x_runs.begin()->first.first);
        if (x_wakes_ms == never)
            x_earlier.wait(x_mutex,
                           [this]() REQUIRES(x_mutex) { return x_is_ending || x_wakes_ms != never; });
        else
            x_earlier.wait_for(x_mutex, std::chrono::milliseconds(x_wakes_ms - now_ms));
    }
}

}  // namespace herald::api::serving::engines::onnx
