#include "api/serving/engines/onnx/bounded_run.hpp"

#include <malloc.h>

#include <atomic>
#include <string_view>

#include "api/serving/engines/onnx/limits.hpp"
#include "runtime/clock.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
    const std::size_t begin = text.find(before);
    if (begin == std::string_view::npos) return {};
    const std::size_t from = begin + before.size();
    const std::size_t end = text.find(behind, from);
    return end == std::string_view::npos ? std::string_view() : text.substr(from, end - from);
}

/// The runtime says "… while running Tile node. Name:'t' Status Message: …". Nothing else of it is shown.
std::string named_operator(std::string_view text) {
    const std::string_view op = between(text, "while running ", " node.");
    const std::string_view name = between(text, "Name:'", "'");
    if (op.empty()) return "the model";
    std::string out = "the model's operator " + runtime::shortened(op, limits::onnx_operator_name_bytes_max);
    if (!name.empty()) out += " \"" + runtime::shortened(name, limits::onnx_operator_name_bytes_max) + '"';
    return out;
}

}  // namespace

run_memory::run_memory(std::uint64_t run_bytes_max)
    : one_run_bytes_max(run_bytes_max),
      one_model_bytes_max(run_bytes_max * limits::onnx_runs_at_once / 4 * 3),
      all_runs(run_bytes_max * limits::onnx_runs_at_once),
      lost(run_bytes_max * limits::onnx_lost_runs_max) {}

bounded_run::bounded_run(const what& chosen) noexcept
    : x_what(chosen),
      x_memory({chosen.memory.one_run_bytes_max,
                limits::onnx_run_bytes_at_once,
                {&chosen.of_model, &chosen.memory.all_runs},
                end_early,
                this,
                &chosen.memory.lost}),
      x_watched({chosen.end_mark.c_str(), end_early, this}) {}

bounded_run::~bounded_run() {
    static std::atomic<std::int64_t> next_ms{0};
    if (x_memory.bytes_of_pools() < limits::onnx_trim_bytes_min) return;
    const std::int64_t now_ms = runtime::system_clock().steady_ms();
    std::int64_t due_ms = next_ms.load(std::memory_order_relaxed);
    if (now_ms >= due_ms && next_ms.compare_exchange_strong(due_ms, now_ms + limits::onnx_trim_pause_ms))
        ::malloc_trim(0);
}

/// In a signal handler, or in malloc. The runtime sets a flag that it looks at before each operator, which
/// cannot fail, and neither can taking it back.
void bounded_run::end_early(void* self) noexcept {
    auto& run = *static_cast<bounded_run*>(self);
    run.x_is_ended = true;
    [[maybe_unused]] OrtStatus* const none = run.x_what.api.RunOptionsSetTerminate(run.x_what.options);
}

void bounded_run::reset() noexcept {
    if (!x_is_ended) return;
    [[maybe_unused]] OrtStatus* const none = x_what.api.RunOptionsUnsetTerminate(x_what.options);
}

std::optional<error> bounded_run::why_stopped(const OrtStatus* status) const {
    if (was_trapped())
        return runtime::invalid_argument({"the model's ", x_what.may_divide,
                                          " divides an integer by zero with these inputs, or its quotient is "
                                          "too large for its type"});
    if (status && x_memory.lacked() != counted_memory::lack::none) return lacked(status);
    return std::nullopt;
}

error bounded_run::lacked(const OrtStatus* status) const {
    const std::string who = named_operator(x_what.api.GetErrorMessage(status));
    if (x_memory.lacked() == counted_memory::lack::of_its_own)
        return runtime::invalid_argument(
            {who, " needs more memory with these inputs than a run may take, which is ",
             mebibytes(x_what.memory.one_run_bytes_max), " (--run-memory-mb)"});
    return runtime::unavailable(
        {who, " needs more memory now than the other runs on this node leave: together they may take ",
         mebibytes(x_what.memory.all_runs.bytes_max()), ", those of one model ",
         mebibytes(x_what.memory.one_model_bytes_max), "; try again"});
}

}  // namespace herald::api::serving::engines::onnx
