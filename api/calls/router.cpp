#include "api/calls/router.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "api/calls/path_parameters.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/text.hpp"

namespace herald::api::calls {
namespace {

using runtime::http::http_method;
using runtime::http::server::error_response;

// Where the patterns of one tree node end: the route, and the names of its parameters in order.
struct pattern_end {
    const route* target = nullptr;
    std::vector<std::string_view> names;
};

std::string shown(const route& row) {
    return std::string(runtime::http::name_of(row.method)) + " " + std::string(row.pattern);
}

[[noreturn]] void refuse(const route& row, std::string_view why) {
    throw std::invalid_argument("route " + shown(row) + ": " + std::string(why));
}

// Removes the first segment, and the slash before it, from `rest`.
std::string_view next_segment(std::string_view& rest) {
    rest.remove_prefix(1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    return segment;
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }

// Appends the decoded text to `out` and returns its length; empty when the text is not percent-encoded UTF-8.
std::optional<std::size_t> percent_decode(std::string_view encoded, char* out) noexcept {
    char* const begin = out;
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        if (encoded[i] != '%') {
            *out++ = encoded[i];
            continue;
        }
        const auto escaped = runtime::percent_escape(encoded.substr(i));
        if (!escaped) return std::nullopt;
        const auto byte = static_cast<unsigned char>(*escaped);
        if (byte < 0x20 || byte == 0x7F) return std::nullopt;
        *out++ = *escaped;
        i += 2;
    }
    const auto size = static_cast<std::size_t>(out - begin);
    if (!runtime::is_valid_utf8({begin, size})) return std::nullopt;
    return size;
}

}  // namespace

// One level in the tree of all patterns.
struct router::node {
    std::vector<std::pair<std::string_view, std::unique_ptr<node>>> literals;  // sorted
    std::unique_ptr<node> parameter;
    std::vector<pattern_end> ends;       // patterns that end here
    std::vector<pattern_end> rest_ends;  // patterns whose last segment takes the whole rest
};

struct router::search {
    http_method wanted;
    std::array<std::string_view, limits::path_parameters_max> values{};
    std::size_t count = 0;
    const pattern_end* found = nullptr;
    unsigned methods = 0;  // of the most literal pattern that matches, one bit each

    // A segment that a more literal pattern takes (find) may also be a name, but not an id.
    bool may_hold(const pattern_end& end) const {
        for (std::size_t i = 0; i < end.names.size(); ++i)
            if (is_numeric_in_path(end.names[i]) &&
                values[i].find_first_not_of("0123456789") != std::string_view::npos)
                return false;
        return true;
    }

    // True when one of them handles the method.
    bool take(const std::vector<pattern_end>& ends) {
        const bool is_first = methods == 0;
        for (const pattern_end& end : ends) {
            if (is_first) methods |= 1u << static_cast<unsigned>(end.target->method);
            if (end.target->method == wanted && (is_first || may_hold(end))) found = &end;
        }
        return found != nullptr;
    }
};

std::string_view route_match::parameter(std::string_view name, std::string_view path) const noexcept {
    for (std::size_t i = 0; i < x_names.size(); ++i)
        if (x_names[i] == name) {
            const place& at = x_values[i];
            const char* const text = at.is_decoded ? x_decoded.get() : path.data();
            return {text + at.begin, at.bytes};
        }
    return {};
}

router::router(std::span<const route> routes) : x_routes(routes), x_root(std::make_unique<node>()) {
    for (const route& row : routes) add(row);
}

router::~router() = default;
router::router(router&&) noexcept = default;

void router::add(const route& row) {
    if (!row.pattern.starts_with('/')) refuse(row, "a pattern starts with /");
    const auto has_answer = [](const auto& kind) { return kind.answer != nullptr; };
    if (!std::visit(has_answer, row.kind)) refuse(row, "it has a handler");
    if (const auto* const streamed = row.as<streamed_row>(); streamed && !streamed->judge)
        refuse(row, "a streamed row is allowed by its signed URL, which must be judged");
    if (row.who == authentication::system_administrator && !row.is<write_row>())
        refuse(row, "the rule of a command refuses others, and a read has no rule");
    if (row.deadline_ms <= 0) refuse(row, "it has a deadline");
    node* at = x_root.get();
    pattern_end end{&row, {}};
    bool takes_rest = false;
    for (std::string_view rest = row.pattern; !rest.empty();) {
        if (takes_rest) refuse(row, "only the last segment takes the rest");
        std::string_view segment = next_segment(rest);
        if (is_parameter(segment)) {
            std::string_view name = segment.substr(1, segment.size() - 2);
            takes_rest = name.ends_with("...");
            if (takes_rest) name.remove_suffix(3);
            if (name.empty() || std::find(end.names.begin(), end.names.end(), name) != end.names.end())
                refuse(row, "a parameter has a name of its own");
            end.names.push_back(name);
            if (end.names.size() > limits::path_parameters_max) refuse(row, "too many parameters");
            if (takes_rest) continue;
            if (!at->parameter) at->parameter = std::make_unique<node>();
            at = at->parameter.get();
            continue;
        }
        if (segment.find_first_of("{}%") != std::string_view::npos) refuse(row, "a literal has no { } or %");
        auto place =
            std::lower_bound(at->literals.begin(), at->literals.end(), segment,
                             [](const auto& child, std::string_view text) { return child.first < text; });
        if (place == at->literals.end() || place->first != segment)
            place = at->literals.emplace(place, segment, std::make_unique<node>());
        at = place->second.get();
    }
    auto& ends = takes_rest ? at->rest_ends : at->ends;
    for (const pattern_end& other : ends)
        if (other.target->method == row.method) refuse(row, "it is there twice, as " + shown(*other.target));
    ends.push_back(std::move(end));
}

void router::find(const node& at, std::string_view rest, search& state) const {
    if (rest.empty()) {
        state.take(at.ends);
        return;
    }
    std::string_view after = rest;
    const std::string_view segment = next_segment(after);
    const auto literal =
        std::lower_bound(at.literals.begin(), at.literals.end(), segment,
                         [](const auto& child, std::string_view text) { return child.first < text; });
    if (literal != at.literals.end() && literal->first == segment) find(*literal->second, after, state);
    if (state.found) return;
    const auto try_parameter = [&](std::string_view value, const auto& go_on) {
        state.values[state.count++] = value;
        go_on();
        if (!state.found) --state.count;
    };
    if (at.parameter && !segment.empty()) try_parameter(segment, [&] { find(*at.parameter, after, state); });
    if (!state.found && !at.rest_ends.empty() && rest.size() > 1)
        try_parameter(rest.substr(1), [&] { state.take(at.rest_ends); });
}

namespace {

std::string allow_of(unsigned methods) {
    std::string out;
    for (unsigned i = 0; i <= static_cast<unsigned>(http_method::options); ++i) {
        if ((methods & 1u << i) == 0) continue;
        if (!out.empty()) out += ", ";
        const auto method = static_cast<http_method>(i);
        out += runtime::http::name_of(method);
        if (method == http_method::get) out += ", HEAD";
    }
    return out;
}

/// 405, for a path that has only these methods (in the form of Allow).
route_refusal wrong_method(http_method method, std::string_view path, std::string allow) {
    error why{
        error_code::unimplemented,
        std::string(path) + " has no " + std::string(runtime::http::name_of(method)) + ", only " + allow,
        405};
    return {std::move(why), std::move(allow)};
}

}  // namespace

route_result router::match(http_method method, std::string_view path) const {
    search state{method == http_method::head ? http_method::get : method};
    if (path.starts_with('/')) find(*x_root, path, state);
    if (!state.found && state.methods == 0)
        return route_refusal{runtime::not_found({"there is nothing at ", path}), {}};
    if (!state.found) return wrong_method(method, path, allow_of(state.methods));
    route_match out;
    out.target = state.found->target;
    out.x_names = state.found->names;
    std::uint32_t used = 0;
    for (std::size_t i = 0; i < state.count; ++i) {
        const std::string_view value = state.values[i];
        if (value.find('%') == std::string_view::npos) {
            out.x_values[i] = {static_cast<std::uint32_t>(value.data() - path.data()),
                               static_cast<std::uint32_t>(value.size()), false};
            continue;
        }
        if (!out.x_decoded) out.x_decoded = std::make_unique<char[]>(path.size());
        const auto size = percent_decode(value, out.x_decoded.get() + used);
        if (!size)
            return route_refusal{
                runtime::invalid_argument({"the path segment ", value, " is not percent-encoded UTF-8 text"}),
                {}};
        out.x_values[i] = {used, static_cast<std::uint32_t>(*size), true};
        used += static_cast<std::uint32_t>(*size);
    }
    return out;
}

runtime::http::http_response refusal_response(const route_refusal& refusal) {
    runtime::http::http_response out = error_response(refusal.why);
    if (!refusal.allow.empty()) out.headers.push_back({"allow", refusal.allow});
    return out;
}

}  // namespace herald::api::calls
