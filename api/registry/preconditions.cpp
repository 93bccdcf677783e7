#include "api/registry/preconditions.hpp"

#include <algorithm>

#include "runtime/text.hpp"

namespace herald::api::registry {
namespace {

using calls::streamed_call;

enum class comparison : std::uint8_t { strong, weak };

/// Whether a field of a list of ETags, or `*`, names this one. Our ETags hold no comma.
bool is_named(std::string_view list, std::string_view etag, comparison how) {
    if (runtime::trimmed(list) == "*") return !etag.empty();
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        std::string_view each = runtime::trimmed(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
        if (how == comparison::weak && each.starts_with("W/")) each.remove_prefix(2);
        if (!etag.empty() && each == etag) return true;
    }
    return false;
}

/// A field that was sent in several lines is one list.
bool is_named(const streamed_call& call, std::string_view field, std::string_view etag, comparison how) {
    for (const auto& each : call.received().headers)
        if (runtime::equals_ignoring_case(each.name, field) && is_named(each.value, etag, how)) return true;
    return false;
}

}  // namespace

bool has_condition(const streamed_call& call) {
    return call.received().header("if-match") || call.received().header("if-none-match");
}

precondition precondition_of(const streamed_call& call, std::string_view etag) {
    using runtime::http::http_method;
    const auto& received = call.received();
    if (received.header("if-match") && !is_named(call, "if-match", etag, comparison::strong))
        return precondition::failed;
    if (!received.header("if-none-match") || !is_named(call, "if-none-match", etag, comparison::weak))
        return precondition::holds;
    const bool reads = received.method == http_method::get || received.method == http_method::head;
    return reads ? precondition::not_modified : precondition::failed;
}

}  // namespace herald::api::registry
