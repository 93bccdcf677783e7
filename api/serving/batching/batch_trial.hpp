// Whether a model's rows may be run together.
#pragma once

#include <cstdint>
#include <memory>

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::batching {

/// Runs merges of every size class up to `size_max`, of parts and values that are random but the same each
/// time, and their parts one by one: the bytes must be equal. Among them are rows of extreme
/// values beside ordinary ones, as far as the model takes them; there NaN is equal to NaN. No proof, since a
/// model may do something special with values that were not tried; it finds what mixes rows: sums along them,
/// scales of all of them, what depends on the largest.
///
/// Blocks. Errors: invalid_argument, for people, when the model's requests must not be merged: an input or
/// output whose first dimension is not free, a difference, a refusal, or no end in
/// limits::batch_trial_ms_max; cancelled.
result<void> try_batching(engines::tensor_model&, std::uint32_t size_max,
                          std::shared_ptr<engines::cancellation> = nullptr);

}  // namespace herald::api::serving::batching
