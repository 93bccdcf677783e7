#include "runtime/http/server/error_response.hpp"

#include <string>

#include "runtime/text.hpp"

namespace herald::runtime::http::server {

http_response error_response(const error& failure) {
    http_response out;
    out.status = runtime::http_status(failure);
    std::string message;
    runtime::append_json_string(message, failure.message);
    out.body = "{\"error\":" + message + ",\"code\":" + std::to_string(static_cast<int>(failure.code)) +
               ",\"message\":" + message + ",\"details\":[]}";
    if (runtime::is_retryable(failure)) out.headers.push_back({"retry-after", "1"});
    return out;
}

}  // namespace herald::runtime::http::server
