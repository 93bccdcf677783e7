// The bounds of the runtime for ONNX models.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t onnx_threads_max = 64;               // of all models that are not quick
constexpr std::size_t onnx_questions_waiting_max = 1'024;  // of one model
/// A model is quick, and runs on the thread that asks, while its runs take no longer than this on average,
constexpr std::int64_t onnx_quick_run_ns_max = 200'000;
/// for questions of at most so many bytes,
constexpr std::size_t onnx_quick_question_bytes_max = 64UL * 1024;
/// if its file, searched for operators whose work depends on values, is no larger than this.
constexpr std::size_t onnx_quick_file_bytes_max = 16UL * 1024 * 1024;
constexpr std::size_t onnx_kept_runs_max = 64;  // prepared runs that a model keeps for the next question
constexpr std::size_t onnx_kept_run_bytes_max = 64UL * 1024;  // of tensors that such a one has
constexpr int onnx_warm_up_runs = 8;
constexpr std::int64_t onnx_warm_up_ms_max = 60'000;  // of one run
constexpr std::size_t onnx_warm_up_bytes_max = 16UL * 1024 * 1024;
constexpr std::size_t onnx_answer_bytes_max = 256UL * 1024 * 1024;
/// Names and shapes, which are kept with a build.
constexpr std::size_t onnx_signature_bytes_max = 64UL * 1024;
constexpr std::size_t onnx_reason_bytes_max = 1'024;  // of a text from the runtime

}  // namespace herald::limits
