// HTTP messages as whoever answers or sends them sees them: no parser, no socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace herald::runtime::http {

enum class http_method : std::uint8_t { get, head, post, put, patch, delete_, options };

std::string_view name_of(http_method) noexcept;

struct header {
    std::string name;
    std::string value;
};

struct http_response {
    std::uint16_t status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<header> headers;  // beside content-type, content-length, date and svc-request-id
};

}  // namespace herald::runtime::http
