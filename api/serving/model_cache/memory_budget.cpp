#include "api/serving/model_cache/memory_budget.hpp"

#include <string>

namespace herald::api::serving::model_cache {

result<memory_budget::share> memory_budget::take(std::uint64_t bytes) {
    const std::uint64_t bytes_max = x_pool->bytes_max();
    if (bytes > bytes_max)
        return runtime::invalid_argument({"the model needs ", bytes,
                                          " bytes, but all models of a node together may take ", bytes_max,
                                          " (--models-memory-mb)"});
    if (!x_pool->take(bytes))
        return runtime::resource_exhausted({"the model needs ", bytes,
                                            " bytes, but the loaded models already take ", x_pool->taken(),
                                            " of the ", bytes_max, " that they may (--models-memory-mb)"});
    return share(x_pool.get(), [of = x_pool, bytes](void*) { of->give_back(bytes); });
}

}  // namespace herald::api::serving::model_cache
