// Ends runs at their deadlines.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// The runs of one model that go on long after they were asked to end: an operator of theirs does not return.
/// Thread-safe.
class late_runs {
  public:
    explicit late_runs(schemas::build_id of) : x_of(of) {}
    unsigned count() const noexcept { return x_count.load(std::memory_order_relaxed); }
    void add(std::int64_t late_ms);  // the first one is logged
    void remove() noexcept { x_count.fetch_sub(1, std::memory_order_relaxed); }

  private:
    const schemas::build_id x_of;
    std::atomic<unsigned> x_count{0};
    std::atomic<bool> x_is_told{false};
};

/// A thread that asks a run to end once its deadline has passed. Thread-safe. Times are of
/// runtime::system_clock().
class run_watch {
  public:
    /// A run that goes on for `late_ms` after it was asked to end is late.
    explicit run_watch(std::shared_ptr<const runtime_library>,
                       std::int64_t late_ms = limits::onnx_late_ms_min);
    ~run_watch();
    run_watch(const run_watch&) = delete;
    run_watch& operator=(const run_watch&) = delete;

    /// Before the run; the options belong to the run until end(). 0: without a deadline.
    /// Counted as late in `late`, which must outlive the run; may be null.
    void begin(OrtRunOptions*, std::int64_t deadline_ms, late_runs* late);
    /// During the run, with the same values: it is asked to end now. Not without a deadline.
    void end_early(OrtRunOptions*, std::int64_t deadline_ms);
    /// After the run, with the same values; true when it was asked to end. Then the options are as before.
    bool end(OrtRunOptions*, std::int64_t deadline_ms);

  private:
    struct asked_run {
        std::int64_t late_from_ms = 0;
        late_runs* late = nullptr;
        bool is_late = false;
    };
    using run_key = std::pair<std::int64_t, OrtRunOptions*>;  // by deadline

    void run();
    void ask_to_end(std::map<run_key, late_runs*>::iterator, std::int64_t now_ms) REQUIRES(x_mutex);
    std::int64_t look_for_late(std::int64_t now_ms) REQUIRES(x_mutex);

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    const std::shared_ptr<const runtime_library> x_library;
    const std::int64_t x_late_ms;
    runtime::mutex x_mutex;
    runtime::condition_variable x_earlier;
    std::map<run_key, late_runs*> x_runs GUARDED_BY(x_mutex);         // not asked to end yet
    std::map<OrtRunOptions*, asked_run> x_asked GUARDED_BY(x_mutex);  // and still running
    // Runs that end leave it as it is: so the thread wakes seldom, however many there are.
    std::int64_t x_wakes_ms GUARDED_BY(x_mutex) = never;
    bool x_is_ending GUARDED_BY(x_mutex) = false;
    std::thread x_thread;
};

}  // namespace herald::api::serving::engines::onnx
