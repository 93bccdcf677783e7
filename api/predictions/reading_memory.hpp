// What reading a prediction's body takes of the memory: known from its text before any of it is taken.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/json_counts.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

/// Takes so much memory, instead of what was taken before. Errors: why not.
using memory_taker = std::function<result<void>(std::size_t bytes)>;

/// The most that one body takes beside itself, in the order in which it is read. Bodies that are read on an
/// event loop are not counted: a thread reads one at a time, and gives the memory back.
class reading_memory {
  public:
    /// `take`: nothing where memory is not bounded.
    reading_memory(std::string_view json, const schemas::model_signature&, const memory_taker& take);

    /// For tensors straight from the text.
    result<void> take_for_plain() const;
    /// For a tree of values, and tensors from that, and from so many bytes that follow the text.
    result<void> take_for_tree(std::size_t binary_bytes = 0) const;

    /// 0 if it was not counted.
    std::size_t elements_max() const noexcept { return x_is_counted ? x_counts.elements : 0; }

  private:
    std::size_t bytes_of_tree() const;
    std::size_t bytes_of_binary(std::size_t bytes) const;

    const memory_taker& x_take;
    const bool x_is_counted;
    const std::size_t x_text_bytes;
    const schemas::model_signature& x_signature;
    schemas::json_counts x_counts;
    std::size_t x_element_bytes = 0;
};

/// What inputs take until the model has answered.
std::size_t bytes_kept_of(const std::vector<schemas::tensor>&);

}  // namespace herald::api::predictions
