// One run within its bounds: of memory, and of what the processor refuses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/serving/engines/byte_pool.hpp"
#include "api/serving/engines/onnx/counted_memory.hpp"
#include "api/serving/engines/onnx/run_traps.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"

namespace herald::api::serving::engines::onnx {

/// What runs may take of the memory.
struct run_memory {
    explicit run_memory(std::uint64_t one_run_bytes_max);

    const std::uint64_t one_run_bytes_max;
    const std::uint64_t one_model_bytes_max;
    byte_pool all_runs;
    byte_pool lost;  // what runs that broke off hold for good; not of the others
};

/// Belongs to one run and its thread; outlives what the run allocated.
class bounded_run {
  public:
    struct what {
        const OrtApi& api;
        OrtRunOptions* options;  // of this run alone
        run_memory& memory;      // outlives it, as does the next
        byte_pool& of_model;
        const std::string& end_mark;    // watched_run::what::end_mark
        const std::string& may_divide;  // what may be at fault, for people: "operator Div"
    };
    explicit bounded_run(const what&) noexcept;
    /// After a run that took much: glibc keeps what was freed, for each thread by itself, and would keep as
    /// much for every thread that ever ran it.
    ~bounded_run();
    bounded_run(const bounded_run&) = delete;
    bounded_run& operator=(const bounded_run&) = delete;

    /// Runs it once, and returns what it returns. It must not throw.
    template <class Run>
    OrtStatus* run(Run&& with) {
        x_memory.begin();
        x_watched.begin();
        OrtStatus* const out = with();
        watched_run::end();
        x_memory.end();
        return out;
    }
    /// After the run, when nobody else may end it any more: lets the options be used again.
    void reset() noexcept;
    /// Why what it gave must not be used; none when nothing stopped it. Errors: invalid_argument, naming the
    /// operator; unavailable when others have the memory.
    std::optional<error> why_stopped(const OrtStatus*) const;
    bool was_trapped() const noexcept { return x_watched.traps() != 0; }
    bool was_stopped() const noexcept {
        return was_trapped() || x_memory.lacked() != counted_memory::lack::none;
    }

  private:
    static void end_early(void* self) noexcept;
    error lacked(const OrtStatus*) const;

    const what x_what;
    bool x_is_ended = false;
    counted_memory x_memory;
    watched_run x_watched;
};

}  // namespace herald::api::serving::engines::onnx
