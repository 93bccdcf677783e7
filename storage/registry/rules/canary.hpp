// What a canary's counts say (wire.md §5, design.md §4). Pure; all in integers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "schemas/endpoints.hpp"

namespace herald::storage::registry::rules {

/// Millionths of a decimal number that is not negative ("0.8", "5e-3"), rounded down. Errors:
/// invalid_argument naming the field, for any other text and for a number of a million or more.
result<std::uint64_t> millionths_of(std::string_view field, std::string_view decimal);
/// "0.25" of 250,000.
std::string decimal_of(std::uint64_t millionths);

/// The latency in µs that at most a tenth of the requests exceeded, by the middle of its bucket; 0 without
/// requests.
std::uint64_t latency_p90_us(const schemas::component_counts&);
/// Which rule is broken, with what was found and what is allowed; empty when none is. There is at least one
/// request.
std::optional<std::string> broken_rule(const schemas::canary_plan&, const schemas::component_counts&);

/// Errors: invalid_argument for counts that cannot be.
result<void> check_counts(const schemas::component_counts&);
/// Adds what one node counted.
void add_counts(schemas::component_counts& to, const schemas::component_counts&);

}  // namespace herald::storage::registry::rules
