// A model that is looked at takes its memory from what loaded models may take together.
#pragma once

#include <memory>

#include "api/serving/builder/builder_job.hpp"
#include "api/serving/model_cache/memory_budget.hpp"

namespace herald::api::serving::builder {

/// Loads with `load` what finds its place in the budget, for as long as that takes. Errors: those of `load`
/// and of memory_budget::take; unavailable when the file cannot be read.
builder_job::model_loader budgeted(std::shared_ptr<model_cache::memory_budget>,
                                   builder_job::model_loader load);

}  // namespace herald::api::serving::builder
