// The bounds of the runtime for ONNX models.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t onnx_threads_max = 64;              // of all models that are not quick
constexpr std::size_t onnx_requests_waiting_max = 1'024;  // of one model
/// Runs of so many rows are quick, and made on the caller's thread, while they take no longer than this on
/// average,
constexpr std::int64_t onnx_quick_run_ns_max = 200'000;
/// for requests of at most so many bytes
constexpr std::size_t onnx_quick_request_bytes_max = 64UL * 1024;
/// and rows,
constexpr std::int64_t onnx_quick_rows_max = 63;
/// if the model's file, whose operators are looked at, is no larger than this
constexpr std::size_t onnx_quick_file_bytes_max = 16UL * 1024 * 1024;
/// and never again after one has taken so much of the processor there, but for the first that takes so long.
constexpr std::int64_t onnx_held_up_ns_max = 5'000'000;
constexpr std::size_t onnx_kept_runs_max = 64;  // prepared runs that a model keeps for the next request
constexpr std::size_t onnx_kept_run_bytes_max = 64UL * 1024;  // of tensors that such a one has
/// Of one constant that is computed when a model is loaded, which nothing can end; larger ones are in each
/// run.
constexpr std::size_t onnx_folded_bytes_max = 16UL * 1024 * 1024;
constexpr std::int64_t onnx_ending_ms_max = 500;  // for runs that have been asked to end with the engine
constexpr int onnx_warm_up_runs = 9;
constexpr std::int64_t onnx_warm_up_ms_max = 2'000;  // of all these runs
constexpr std::size_t onnx_warm_up_bytes_max = 16UL * 1024 * 1024;
constexpr std::size_t onnx_response_bytes_max = 32UL * 1024 * 1024;
constexpr std::size_t onnx_empty_lists_max = 1UL << 20;  // of an output without elements, as it is written
/// Of the responses of all models that were copied out of the runtime and have not been sent,
constexpr std::size_t onnx_responses_bytes_max = 8 * onnx_response_bytes_max;
/// but for those that are no larger than this.
constexpr std::size_t onnx_small_response_bytes_max = 64UL * 1024;
/// Names and shapes, which are kept with a build.
constexpr std::size_t onnx_signature_bytes_max = 64UL * 1024;
constexpr std::size_t onnx_reason_bytes_max = 1'024;      // of a text from the runtime, as it is shown
constexpr std::size_t onnx_text_bytes_max = 16UL * 1024;  // of one, as it is looked at

}  // namespace herald::limits
