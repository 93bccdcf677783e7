#include "runtime/http/server/request_id.hpp"

#include <algorithm>

#include "runtime/http/limits.hpp"
#include "runtime/random.hpp"
#include "runtime/text.hpp"

namespace herald::runtime::http::server {
namespace {

bool is_request_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= limits::request_id_bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x21 && c <= 0x7E; });
}

}  // namespace

request_id id_of(std::span<const header_view> headers, const std::vector<std::string>& own_names) {
    for (const header_view& field : headers) {
        constexpr std::string_view ending = "request-id";
        if (field.name.size() <= ending.size() || !is_request_id(field.value)) continue;
        if (!runtime::equals_ignoring_case(field.name.substr(field.name.size() - ending.size()), ending))
            continue;
        const auto is_this = [&field](std::string_view name) {
            return runtime::equals_ignoring_case(field.name, name);
        };
        const bool is_own = std::any_of(own_names.begin(), own_names.end(), is_this);
        if (!is_own && !is_this("svc-request-id") && !is_this("verta-request-id")) continue;
        return {std::string(field.value), is_own ? std::string_view() : field.name};
    }
    return {runtime::uuid_text(runtime::system_random().uuid()), {}};
}

}  // namespace herald::runtime::http::server
