#include "api/serving/engines/onnx/onnx_model.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "api/serving/engines/blocking_inference.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/run_traps.hpp"
#include "api/serving/engines/onnx/steady_work.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

bool has_steady_work_in(const std::filesystem::path& file, std::uint64_t bytes) {
    if (bytes == 0 || bytes > limits::onnx_quick_file_bytes_max) return false;
    std::string content(bytes, '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in.read(content.data(), static_cast<std::streamsize>(bytes))) return false;
    return has_steady_work(content);
}

bool has_declared_rows(const schemas::model_signature& of) {
    return std::ranges::all_of(of.inputs, [](const tensor_spec& each) {
        return std::ranges::none_of(each.shape.begin() + (each.shape.empty() ? 0 : 1), each.shape.end(),
                                    [](std::int64_t dim) { return dim < 0; });
    });
}

/// Of this thread.
std::int64_t processor_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Zeros, and 1 for every free dimension. None when that would be large.
std::optional<tensor_request> request_of_zeros(const schemas::model_signature& of) {
    tensor_request out;
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
    if (schemas::bytes_of(out.inputs) > limits::onnx_warm_up_bytes_max) return std::nullopt;
    return out;
}

}  // namespace

onnx_model::onnx_model(std::unique_ptr<onnx_session> session, std::shared_ptr<run_threads> threads,
                       const std::filesystem::path& file)
    : x_session(std::move(session)),
      x_threads(std::move(threads)),
      x_threads_max(std::min<std::size_t>(std::max(2U, std::thread::hardware_concurrency()),
                                          limits::onnx_threads_max / 4)),
      x_run_ns(2 * limits::onnx_quick_run_ns_max) {
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(file, failed);
    x_memory_bytes = failed ? 0 : bytes;
    x_may_be_quick = has_declared_rows(signature()) && has_steady_work_in(file, x_memory_bytes);
}

std::optional<unsigned> onnx_model::place_of_rows(const tensor_request& request) const {
    const auto& specs = signature().inputs;
    if (!x_may_be_quick || request.inputs.size() != specs.size()) return std::nullopt;
    unsigned out = 0;
    for (std::size_t at = 0; at < specs.size(); ++at) {
        const auto& declared = specs[at].shape;
        const auto& given = request.inputs[at].shape;
        if (declared.empty() || declared.front() >= 0) {
            if (given != declared) return std::nullopt;
            continue;
        }
        if (!std::ranges::equal(given.begin() + (given.empty() ? 0 : 1), given.end(), declared.begin() + 1,
                                declared.end()))
            return std::nullopt;
        if (given.front() < 1 || given.front() > limits::onnx_quick_rows_max) return std::nullopt;
        const auto rows = static_cast<unsigned>(given.front());
        if (out != 0 && out != rows) return std::nullopt;
        out = rows;
    }
    return out;
}

bool onnx_model::is_quick() const noexcept {
    return x_may_be_quick && !x_held_up_a_caller.load(std::memory_order_relaxed) &&
           x_run_ns.load(std::memory_order_relaxed) <= limits::onnx_quick_run_ns_max;
}

bool onnx_model::is_quick_with(const tensor_request& request) const {
    if (!is_quick()) return false;
    const auto place = place_of_rows(request);
    return place && (x_quick_rows.load(std::memory_order_relaxed) >> *place & 1U) != 0 &&
           schemas::bytes_of(request.inputs) <= limits::onnx_quick_request_bytes_max;
}

result<void> onnx_model::warm_up(const std::shared_ptr<cancellation>& cancelled) {
    auto zeros = request_of_zeros(signature());
    if (!zeros) return {};
    zeros->deadline_ms = runtime::system_clock().steady_ms() + limits::onnx_warm_up_ms_max;
    zeros->cancelled = cancelled;
    zeros->is_a_try = true;
    for (int round = 0; round < limits::onnx_warm_up_runs; ++round)
        if (const auto ran = infer_and_wait(*this, *zeros); !ran) {
            if (ran.error().code != error_code::deadline_exceeded) return ran.error();
            return error{error_code::deadline_exceeded,
                         "runs of zeros took more than " + std::to_string(limits::onnx_warm_up_ms_max) +
                             " ms; they were ended, and the model serves all the same"};
        }
    return {};
}

void onnx_model::infer(tensor_request request, response_handler handler) {
    if (is_quick_with(request)) {
        request.cancelled = nullptr;  // the thread that could cancel it waits here
        return handler(run_here(request));
    }
    enqueue(std::move(request), std::move(handler));
}

std::optional<result<tensor_response>> onnx_model::infer_now(const tensor_request& request) {
    if (!is_quick_with(request)) return std::nullopt;
    return run_here(request);
}

result<tensor_response> onnx_model::run(const tensor_request& request) {
    try {
        return x_session->run(request);
    } catch (const std::bad_alloc&) {
        return runtime::resource_exhausted("this node has not enough memory for the prediction; try again");
    }
}

result<tensor_response> onnx_model::run_here(const tensor_request& request) {
    // Time of the processor: that the machine is busy is not the model's fault. A system call tells it, so it
    // is asked for only once a run has taken long.
    const bool is_measured = x_took_long_here.load(std::memory_order_relaxed);
    const std::int64_t begin = is_measured ? processor_ns() : 0;
    std::int64_t took_ns = 0;
    auto out = run_timed(request, took_ns);
    if (took_ns <= limits::onnx_held_up_ns_max) return out;
    x_took_long_here.store(true, std::memory_order_relaxed);
    if (is_measured && processor_ns() - begin > limits::onnx_held_up_ns_max)
        x_held_up_a_caller.store(true, std::memory_order_relaxed);
    return out;
}

result<tensor_response> onnx_model::run_timed(const tensor_request& request, std::int64_t& took_ns) {
    const auto begin = std::chrono::steady_clock::now();
    auto out = run(request);
    took_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
                  .count();
    const auto place = place_of_rows(request);
    if (!out || !place) return out;
    // On a caller's thread the response is written, too.
    const bool is_short = schemas::bytes_to_write(*out) <= limits::onnx_small_response_bytes_max;
    if (took_ns <= limits::onnx_quick_run_ns_max && is_short)
        x_quick_rows.fetch_or(std::uint64_t{1} << *place, std::memory_order_relaxed);
    // One run that the machine held up does not make a model slow; several in a row do. A lost update does no
    // harm: the next one tells the same.
    const std::int64_t counted = std::min(took_ns, 2 * limits::onnx_quick_run_ns_max);
    const std::int64_t before = x_run_ns.load(std::memory_order_relaxed);
    x_run_ns.store(before + (counted - before) / 4, std::memory_order_relaxed);
    return out;
}

std::string onnx_model::why_stuck() const {
    return "the model is stuck on this node: its " + std::to_string(x_threads_max) +
           " runs go on after their deadlines, each in an operator that does not return; restart the node, "
           "or "
           "update the stage to another build";
}

result<void> onnx_model::in_service() const {
    if (const auto good = x_session->in_service(); !good) return good.error();
    if (is_stuck()) return runtime::unavailable(why_stuck());
    return {};
}

/// No thread will take them.
void onnx_model::refuse_waiting() {
    std::deque<waiting_request> refused;
    {
        const runtime::lock_guard lock(x_mutex);
        refused.swap(x_waiting);
    }
    for (auto& each : refused) each.handler(error{error_code::deadline_exceeded, why_stuck()});
}

/// False, and nothing is taken, when too many wait already.
bool onnx_model::put_behind_others(tensor_request& request, response_handler& handler, bool& needs_thread) {
    const runtime::lock_guard lock(x_mutex);
    if (x_waiting.size() >= limits::onnx_requests_waiting_max) return false;
    x_waiting.push_back({std::move(request), std::move(handler)});
    needs_thread = x_running < x_threads_max;
    if (needs_thread) ++x_running;
    return true;
}

void onnx_model::enqueue(tensor_request request, response_handler handler) {
    if (is_stuck()) {
        refuse_waiting();
        return handler(error{error_code::deadline_exceeded, why_stuck()});
    }
    bool needs_thread = false;
    if (!put_behind_others(request, handler, needs_thread))
        return handler(
            runtime::resource_exhausted({"too many predictions are waiting for this model (at most ",
                                         limits::onnx_requests_waiting_max, " may); try again"}));
    if (needs_thread) x_threads->start([self = shared_from_this()] { return self->run_next(); });
}

void onnx_model::run_waiting(waiting_request& one) {
    const broken_off_duty::duty_type when_broken_off = [this, &one](const lost_run& lost) {
        x_threads->start([self = shared_from_this()] { return self->run_next(); });  // in this one's place
        const auto handler = std::move(one.handler);
        // Nothing on this thread looks at them any more.
        one.request.inputs = {};
        one.request.memory = nullptr;
        handler(x_session->broke_off(lost));
    };
    std::int64_t took_ns = 0;
    const broken_off_duty duty(when_broken_off);
    one.handler(run_timed(one.request, took_ns));
}

/// Runs the longest waiting request, and then stands behind the work of other models; false when none waits.
bool onnx_model::run_next() {
    waiting_request next;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_waiting.empty()) {
            --x_running;
            return false;
        }
        next = std::move(x_waiting.front());
        x_waiting.pop_front();
    }
    if (next.request.cancelled && next.request.cancelled->is_cancelled())
        next.handler(error{error_code::cancelled, "it was cancelled before the model ran", 0});
    else
        run_waiting(next);
    return true;
}

}  // namespace herald::api::serving::engines::onnx
