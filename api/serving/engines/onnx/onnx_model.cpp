#include "api/serving/engines/onnx/onnx_model.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// The work of these depends on the values that they are given, not only on shapes.
constexpr std::array<std::string_view, 14> unsteady_operators{
    "Loop",   "Scan",     "Range", "ConstantOfShape", "Expand",   "Tile",  "Resize",
    "Random", "Upsample", "Pad",   "OneHot",          "Sequence", "Regex", "BeamSearch"};

/// Their names anywhere in the file count: a name too many only costs a change of threads.
bool has_steady_work(const std::filesystem::path& file, std::uint64_t bytes) {
    if (bytes == 0 || bytes > limits::onnx_quick_file_bytes_max) return false;
    std::string content(bytes, '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in.read(content.data(), static_cast<std::streamsize>(bytes))) return false;
    return std::ranges::none_of(
        unsteady_operators, [&](std::string_view name) { return content.find(name) != std::string::npos; });
}

std::size_t bytes_of_question(const tensor_question& question) {
    std::size_t out = 0;
    for (const auto& each : question.inputs) {
        out += each.data.size();
        for (const auto& text : each.texts) out += text.size() + sizeof(std::string);
    }
    return out;
}

/// Zeros, and 1 for every free dimension. None when that would be large.
std::optional<tensor_question> question_of_zeros(const schemas::model_signature& of) {
    tensor_question out;
    for (const tensor_spec& spec : of.inputs) {
        tensor made;
        made.name = spec.name;
        made.type = spec.type;
        std::size_t count = 1;
        for (const auto dim : spec.shape) {
            made.shape.push_back(dim < 0 ? 1 : dim);
            if (__builtin_mul_overflow(count, static_cast<std::size_t>(made.shape.back()), &count))
                return std::nullopt;
            if (count > limits::onnx_warm_up_bytes_max) return std::nullopt;
        }
        if (spec.type == tensor_type::text)
            made.texts.resize(count);
        else
            made.data.assign(count * schemas::bytes_of(spec.type), '\0');
        out.inputs.push_back(std::move(made));
    }
    if (bytes_of_question(out) > limits::onnx_warm_up_bytes_max) return std::nullopt;
    return out;
}

}  // namespace

onnx_model::onnx_model(std::unique_ptr<onnx_session> session, std::shared_ptr<run_threads> threads,
                       const std::filesystem::path& file)
    : x_session(std::move(session)),
      x_threads(std::move(threads)),
      x_threads_max(std::max(2U, std::thread::hardware_concurrency())),
      x_run_ns(2 * limits::onnx_quick_run_ns_max) {
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(file, failed);
    x_memory_bytes = failed ? 0 : bytes;
    x_may_be_quick = has_steady_work(file, x_memory_bytes);
}

bool onnx_model::is_quick() const noexcept {
    return x_may_be_quick && x_run_ns.load(std::memory_order_relaxed) <= limits::onnx_quick_run_ns_max;
}

void onnx_model::warm_up() {
    auto zeros = question_of_zeros(signature());
    if (!zeros) return;
    zeros->deadline_ms = runtime::system_clock().steady_ms() + limits::onnx_warm_up_ms_max;
    if (!x_session->run(*zeros)) return;
    // The first run is no measure of those that follow.
    for (int run = 0; run < limits::onnx_warm_up_runs; ++run)
        if (!run_timed(*zeros)) return;
}

void onnx_model::ask(tensor_question question, answer_handler answer) {
    if (is_quick() && bytes_of_question(question) <= limits::onnx_quick_question_bytes_max)
        return answer(run_timed(question));
    enqueue(std::move(question), std::move(answer));
}

result<std::vector<tensor>> onnx_model::run_timed(const tensor_question& question) {
    const auto begin = std::chrono::steady_clock::now();
    auto out = x_session->run(question);
    const std::int64_t ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
            .count();
    // One run that the machine held up does not make a model slow; several in a row do. A lost update does no
    // harm: the next one tells the same.
    const std::int64_t counted = std::min(ns, 2 * limits::onnx_quick_run_ns_max);
    const std::int64_t before = x_run_ns.load(std::memory_order_relaxed);
    x_run_ns.store(before + (counted - before) / 4, std::memory_order_relaxed);
    return out;
}

/// False, and nothing is taken, when too many wait already.
bool onnx_model::put_behind_others(tensor_question& question, answer_handler& answer, bool& needs_thread) {
    const runtime::lock_guard lock(x_mutex);
    if (x_waiting.size() >= limits::onnx_questions_waiting_max) return false;
    x_waiting.push_back({std::move(question), std::move(answer)});
    needs_thread = x_running < x_threads_max;
    if (needs_thread) ++x_running;
    return true;
}

void onnx_model::enqueue(tensor_question question, answer_handler answer) {
    bool needs_thread = false;
    if (!put_behind_others(question, answer, needs_thread))
        return answer(runtime::resource_exhausted("too many predictions wait for this model; at most " +
                                                  std::to_string(limits::onnx_questions_waiting_max) +
                                                  " do"));
    if (needs_thread) x_threads->start([self = shared_from_this()] { self->run_waiting(); });
}

void onnx_model::run_waiting() {
    for (;;) {
        waiting_question next;
        {
            const runtime::lock_guard lock(x_mutex);
            if (x_waiting.empty()) {
                --x_running;
                return;
            }
            next = std::move(x_waiting.front());
            x_waiting.pop_front();
        }
        next.answer(run_timed(next.question));
    }
}

}  // namespace herald::api::serving::engines::onnx
