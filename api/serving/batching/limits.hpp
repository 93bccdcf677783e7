// The bounds of dynamic batching.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t batch_requests_waiting_max = 1'024;  // of one model
constexpr std::size_t batches_running_max = 2;             // of one model
constexpr std::int64_t batch_trial_ms_max = 60'000;        // of all runs at load
constexpr std::uint32_t batch_trial_part_rows_max = 4;
constexpr std::size_t batch_trial_extreme_rows_max = 64;           // of a batch with extreme values
constexpr std::int64_t batch_trial_narrow_scale_max = 20;          // powers of two that any model is told
constexpr int batch_trial_extreme_pairs = 16;                      // batches of two rows with such
constexpr std::size_t batch_trial_bytes_max = 64UL * 1024 * 1024;  // of the inputs and outputs of one batch

}  // namespace herald::limits
