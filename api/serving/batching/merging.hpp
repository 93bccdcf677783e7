// Requests as one, and its response as theirs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::batching {

/// The first dimension of every input; none when they differ or there is none.
std::optional<std::size_t> rows_of(const engines::tensor_request&);

/// Whether they differ at most in rows, values and deadline. Both have rows.
bool can_merge(const engines::tensor_request&, const engines::tensor_request&);

/// The sizes that merged requests have: each up to 16, then four between a power of two and the next. Only
/// what was tried at load runs later, so there are few.
std::size_t size_class(std::size_t rows, std::size_t size_max);

/// At least one; they can be merged. Rows of zeros (of empty texts) fill up to `rows`. The deadline is the
/// latest one.
engines::tensor_request merged(std::span<const engines::tensor_request* const>, std::size_t rows);

/// A response to merged requests of `total` rows, cut to the first `rows` of each in turn. Errors: internal
/// when an output has other rows than the inputs had.
result<std::vector<std::vector<schemas::tensor>>> split(const std::vector<schemas::tensor>&,
                                                        std::span<const std::size_t> rows, std::size_t total);

}  // namespace herald::api::serving::batching
