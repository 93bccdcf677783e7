// What the loaded models may take of the memory, together (design.md §4).
#pragma once

#include <cstdint>
#include <memory>

#include "api/serving/engines/byte_pool.hpp"
#include "runtime/error.hpp"

namespace herald::api::serving::model_cache {

/// Thread-safe.
class memory_budget {
  public:
    explicit memory_budget(std::uint64_t bytes_max)
        : x_pool(std::make_shared<engines::byte_pool>(bytes_max)) {}
    memory_budget(const memory_budget&) = delete;
    memory_budget& operator=(const memory_budget&) = delete;

    /// They are free again when this is released. May outlive the budget.
    using share = std::shared_ptr<void>;
    /// Errors: resource_exhausted, saying what is taken and what may be; invalid_argument when it would not
    /// fit if it were alone.
    result<share> take(std::uint64_t bytes);
    std::uint64_t taken() const noexcept { return x_pool->taken(); }
    /// The same bytes, for who takes them as they are needed. May outlive the budget.
    const std::shared_ptr<engines::byte_pool>& pool() const noexcept { return x_pool; }

  private:
    const std::shared_ptr<engines::byte_pool> x_pool;
};

}  // namespace herald::api::serving::model_cache
