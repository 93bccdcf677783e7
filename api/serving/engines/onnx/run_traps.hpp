// What the processor stops a run for: divisions are gone over, and the run is told; what ends the process
// leaves a mark of the model.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

#include "api/serving/engines/onnx/counted_memory.hpp"

namespace herald::api::serving::engines::onnx {

/// A run on this thread, from begin() to end(). ONNX Runtime divides the lowest integer by -1 (and in some
/// operators by zero), at which x86-64 raises SIGFPE, which ends the process. While a run is watched, the
/// division gives zero instead, and the run is asked to end. Nothing is unwound: the runtime notices nothing,
/// releases its locks and its memory, and traps() tells the caller. Each trap costs some microseconds.
///
/// Where a check of the runtime's own fails it calls std::terminate, from which nothing returns. If the
/// thread has a broken_off_duty, that is done there, and the thread stays where it is, with what it holds,
/// until the process ends. What it holds is booked apart (counted_memory::lose), so that other runs have
/// their memory. So at most limits::onnx_lost_threads_max, and as long as that book has room; then, and on
/// other threads, the process ends.
///
/// A fault that cannot be gone over (SIGSEGV, SIGBUS, SIGILL, SIGABRT) ends the process as before. A byte is
/// appended to the model's mark first: how often that happened.
///
/// Signals of other threads and of other instructions do what they did before.
class watched_run {
  public:
    struct what {
        const char* end_mark = "";                    // a file's path; empty: there is none
        void (*end_early)(void*) noexcept = nullptr;  // called at the first trap; in a signal handler
        void* of = nullptr;                           // its argument
    };
    explicit watched_run(const what& chosen) noexcept : x_what(chosen) {}
    watched_run(const watched_run&) = delete;
    watched_run& operator=(const watched_run&) = delete;

    void begin() noexcept;
    static void end() noexcept;
    std::uint64_t traps() const noexcept { return x_traps; }

  private:
    [[noreturn]] static void on_terminate();
    static void on_signal(int number, siginfo_t*, void* context) noexcept;
    static void install();

    const what x_what;
    volatile std::uint64_t x_traps = 0;  // written by the handler, on the same thread
};

/// A run from which nothing returns.
struct lost_run {
    std::uint64_t bytes = 0;  // it holds them until the process ends
    counted_memory::lack lacked = counted_memory::lack::none;
    std::string why;  // what the runtime threw
};

/// What this thread still does when its run breaks off (watched_run): it tells who waits, and sees to another
/// thread in its place. Not while memory is counted.
class broken_off_duty {
  public:
    using duty_type = std::function<void(const lost_run&)>;
    explicit broken_off_duty(const duty_type&) noexcept;  // which outlives it
    ~broken_off_duty();
    broken_off_duty(const broken_off_duty&) = delete;
    broken_off_duty& operator=(const broken_off_duty&) = delete;
};

}  // namespace herald::api::serving::engines::onnx
