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
/// What a run may allocate while it runs, unless it is told; all runs together twice that, and of these the
/// runs of one model three of four parts.
constexpr std::uint64_t onnx_run_bytes_max = 1ull << 30;
constexpr std::uint64_t onnx_run_bytes_min = 16ull << 20;
constexpr std::uint64_t onnx_run_bytes_default_min = 128ull
                                                     << 20;  // of what a node with little memory chooses
constexpr std::uint64_t onnx_runs_at_once = 2;
/// Of that, so much is not counted among all runs: most runs take less.
constexpr std::uint64_t onnx_run_bytes_at_once = 1ull << 20;
constexpr std::size_t onnx_zeroed_by_glibc_bytes_min = 64UL * 1024;  // of an allocation in a run
constexpr std::uint64_t onnx_memory_step_bytes = 4ull << 20;         // of what is counted among all
/// After a run that took so much of that, what is free is given back to the machine, not more often than
/// this.
constexpr std::uint64_t onnx_trim_bytes_min = 16ull << 20;
constexpr std::int64_t onnx_trim_pause_ms = 100;
/// Where a bound is reached, allocations that are smaller than this
constexpr std::size_t onnx_large_allocation_bytes_min = 1UL << 20;
/// are let through as far as so much; then they fail, too, and three such parts remain to tell of it.
constexpr std::uint64_t onnx_lack_reserve_bytes = 4ull << 20;
/// What loading a model may take beyond so many times its file, and so much, is counted among all models.
constexpr std::uint64_t onnx_load_file_factor = 3;
constexpr std::uint64_t onnx_load_bytes_at_once = 64ull << 20;
/// Requests at which the processor stopped, or a run broke off; then the model serves no more.
constexpr std::uint32_t onnx_faults_max = 2;
constexpr unsigned onnx_lost_threads_max = 32;  // at runs that broke off, from which nothing returns
/// What these hold is not counted among all runs. It may be so many times what one run may take; at a loss
/// beyond that, as at a thread beyond the last, the process ends.
constexpr std::uint64_t onnx_lost_runs_max = 4;
/// A run that goes on for so long after it was asked to end is told of.
constexpr std::int64_t onnx_late_ms_min = 5'000;
constexpr std::size_t onnx_handler_stack_bytes = 64UL * 1024;
constexpr std::size_t onnx_operators_named = 3;
constexpr std::size_t onnx_inputs_named = 16;
constexpr std::size_t onnx_operator_name_bytes_max = 64;
constexpr int onnx_graph_depth_max = 16;  // of graphs in graphs, as they are looked at for operators

}  // namespace herald::limits
