// What the responses of all models may take of the memory, together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "runtime/error.hpp"

namespace herald::api::serving::engines::onnx {

/// Counts what was copied out of the runtime and not yet let go. Thread-safe; shares may outlive their
/// owner's last use of it.
class response_budget : public std::enable_shared_from_this<response_budget> {
  public:
    explicit response_budget(std::size_t bytes_max) : x_bytes_max(bytes_max) {}

    /// Given back when the last copy goes. Errors: resource_exhausted.
    result<std::shared_ptr<const void>> take(std::size_t bytes);

  private:
    const std::size_t x_bytes_max;
    std::atomic<std::size_t> x_taken{0};
};

}  // namespace herald::api::serving::engines::onnx
