#include "runtime/http/message.hpp"

namespace herald::runtime::http {

std::string_view name_of(http_method method) noexcept {
    switch (method) {
        case http_method::get:
            return "GET";
        case http_method::head:
            return "HEAD";
        case http_method::post:
            return "POST";
        case http_method::put:
            return "PUT";
        case http_method::patch:
            return "PATCH";
        case http_method::delete_:
            return "DELETE";
        case http_method::options:
            return "OPTIONS";
        case http_method::trace:
            return "TRACE";
        case http_method::query:
            break;
    }
    return "QUERY";
}

}  // namespace herald::runtime::http
