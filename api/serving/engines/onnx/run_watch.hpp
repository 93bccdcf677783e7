// Ends runs at their deadlines.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "api/serving/engines/onnx/runtime_library.hpp"
#include "runtime/clock.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// A thread that asks a run to end once its deadline has passed. Thread-safe. Times are of
/// runtime::system_clock().
class run_watch {
  public:
    explicit run_watch(std::shared_ptr<const runtime_library>);
    ~run_watch();
    run_watch(const run_watch&) = delete;
    run_watch& operator=(const run_watch&) = delete;

    /// Before the run; the options belong to the run until end(). A deadline of 0 is none.
    void begin(OrtRunOptions*, std::int64_t deadline_ms);
    /// During the run, with the same values: it is asked to end now. Not without a deadline.
    void end_early(OrtRunOptions*, std::int64_t deadline_ms);
    /// After the run, with the same values; true when it was asked to end. Then the options are as before.
    bool end(OrtRunOptions*, std::int64_t deadline_ms);

  private:
    void run();

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    const std::shared_ptr<const runtime_library> x_library;
    runtime::mutex x_mutex;
    runtime::condition_variable x_earlier;
    std::set<std::pair<std::int64_t, OrtRunOptions*>> x_runs GUARDED_BY(x_mutex);
    // Runs that end leave it as it is: so the thread wakes seldom, however many there are.
    std::int64_t x_wakes_ms GUARDED_BY(x_mutex) = never;
    bool x_is_ending GUARDED_BY(x_mutex) = false;
    std::thread x_thread;
};

}  // namespace herald::api::serving::engines::onnx
