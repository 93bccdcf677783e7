#include "api/registry/byte_ranges.hpp"

#include <algorithm>

#include "api/registry/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::registry {
namespace {

wanted_range part(std::uint64_t first, std::uint64_t last, std::uint64_t size) {
    if (first >= size) return {range_kind::unsatisfiable, {}};
    return {range_kind::part, {first, std::min(last, size - 1) - first + 1}};
}

/// A number beyond 64 bits is beyond every end.
std::optional<std::uint64_t> position_of(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return runtime::parse_decimal(text).value_or(UINT64_MAX);
}

}  // namespace

wanted_range range_of(std::optional<std::string_view> field, std::uint64_t size) {
    static constexpr std::string_view unit = "bytes=";
    if (!field || field->size() > limits::range_header_bytes_max || field->size() < unit.size() ||
        !runtime::equals_ignoring_case(field->substr(0, unit.size()), unit))
        return {};
    const std::string_view said = field->substr(unit.size());
    const std::size_t dash = said.find('-');
    if (dash == std::string_view::npos) return {};
    const std::string_view from = said.substr(0, dash), to = said.substr(dash + 1);
    const auto first = position_of(from), last = position_of(to);
    if (from.empty()) {  // the last so many bytes
        if (!last) return {};
        if (*last == 0 || size == 0) return {range_kind::unsatisfiable, {}};
        return part(size - std::min(*last, size), size - 1, size);
    }
    if (!first || (!to.empty() && (!last || *last < *first))) return {};
    return part(*first, to.empty() ? UINT64_MAX : *last, size);
}

}  // namespace herald::api::registry
