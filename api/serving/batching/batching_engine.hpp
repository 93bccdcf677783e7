// Adds dynamic batching to an engine whose models take tensors.
#pragma once

#include <memory>

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::batching {

/// An engine of the same name. What is loaded with a batching size of 2 or more is tried first
/// (batch_trial.hpp), which may take limits::batch_trial_ms_max more on the loading thread; what fails that,
/// or takes bodies, is refused with invalid_argument. Everything else is as `inner` loads it.
std::shared_ptr<engines::engine> make_batching_engine(std::shared_ptr<engines::engine> inner);

}  // namespace herald::api::serving::batching
