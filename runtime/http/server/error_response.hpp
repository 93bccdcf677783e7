// The one form of all errors (wire.md "Errors").
#pragma once

#include "runtime/error.hpp"
#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

/// {"error": <message>, "code": <number>, "message": <message>, "details": []}, with the status that belongs
/// to the error, and Retry-After where the same request may succeed later (429, 503).
http_response error_response(const error&);

}  // namespace herald::runtime::http::server
