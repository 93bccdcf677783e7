#include "api/serving/model_cache/memory_budget.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "runtime/mutex.hpp"

namespace herald::api::serving::model_cache {

struct memory_budget::counts {
    explicit counts(std::uint64_t the_bytes_max) : bytes_max(the_bytes_max) {}
    const std::uint64_t bytes_max;
    runtime::mutex mutex;
    std::uint64_t taken GUARDED_BY(mutex) = 0;
};

std::uint64_t half_of_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGESIZE);
    std::uint64_t bytes = UINT64_MAX;
    if (pages > 0 && page_bytes > 0)
        bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
    // Of a container; "max", which is no number, where it has no bound.
    std::ifstream group("/sys/fs/cgroup/memory.max");
    std::uint64_t bound = 0;
    if (group >> bound && bound > 0) bytes = std::min(bytes, bound);
    return bytes / 2;
}

memory_budget::memory_budget(std::uint64_t bytes_max) : x_counts(std::make_shared<counts>(bytes_max)) {}
memory_budget::~memory_budget() = default;

result<memory_budget::share> memory_budget::take(std::uint64_t bytes) {
    if (bytes > x_counts->bytes_max)
        return runtime::invalid_argument("the model needs " + std::to_string(bytes) +
                                         " bytes, but all models of a node together may take " +
                                         std::to_string(x_counts->bytes_max) + " (--models-memory-mb)");
    const runtime::lock_guard lock(x_counts->mutex);
    if (bytes > x_counts->bytes_max - std::min(x_counts->taken, x_counts->bytes_max))
        return runtime::resource_exhausted(
            "the model needs " + std::to_string(bytes) + " bytes, but the loaded models already take " +
            std::to_string(x_counts->taken) + " of the " + std::to_string(x_counts->bytes_max) +
            " that they may (--models-memory-mb)");
    x_counts->taken += bytes;
    const auto give_back = [of = x_counts, bytes](void*) {
        const runtime::lock_guard giving(of->mutex);
        of->taken -= bytes;
    };
    return share(x_counts.get(), give_back);
}

std::uint64_t memory_budget::taken() const noexcept {
    const runtime::lock_guard lock(x_counts->mutex);
    return x_counts->taken;
}

}  // namespace herald::api::serving::model_cache
