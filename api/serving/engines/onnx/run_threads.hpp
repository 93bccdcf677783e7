// Threads for runs that may take long.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// One more thread whenever all are busy, up to a maximum; then work waits. What work throws is logged, and
/// it counts as having more. Thread-safe. May be destroyed by work that it runs; what still waits is then
/// dropped, and a run that does not end in time is left to its thread.
class run_threads {
  public:
    /// True when there is more of it: then it is called again, after what waits now.
    using work = std::function<bool()>;
    explicit run_threads(std::size_t threads_max);
    ~run_threads();
    run_threads(const run_threads&) = delete;
    run_threads& operator=(const run_threads&) = delete;

    void start(work);

  private:
    struct shared {
        runtime::mutex mutex;
        runtime::condition_variable changed;
        runtime::condition_variable ended;
        std::size_t running GUARDED_BY(mutex) = 0;   // threads
        std::deque<work> waiting GUARDED_BY(mutex);  // its users bound what they start
        std::size_t idle GUARDED_BY(mutex) = 0;
        bool is_ending GUARDED_BY(mutex) = false;
    };
    static void run(const std::shared_ptr<shared>&);
    static bool is_there_more_of(const work&) noexcept;

    const std::size_t x_threads_max;
    const std::shared_ptr<shared> x_shared;
    std::vector<std::thread> x_threads;  // guarded by the mutex of what is shared
};

}  // namespace herald::api::serving::engines::onnx
