#include "api/serving/builder/budgeted_loader.hpp"

#include <system_error>
#include <utility>

namespace herald::api::serving::builder {

builder_job::model_loader budgeted(std::shared_ptr<model_cache::memory_budget> budget,
                                   builder_job::model_loader load) {
    return [budget = std::move(budget),
            load = std::move(load)](const std::filesystem::path& file) -> result<schemas::model_signature> {
        std::error_code unknown;
        const std::uint64_t bytes = std::filesystem::file_size(file, unknown);
        if (unknown)
            return runtime::unavailable("the model's copy on this node's disk cannot be read; try again");
        const auto memory = budget->take(bytes);
        if (!memory) return memory.error();
        return load(file);
    };
}

}  // namespace herald::api::serving::builder
