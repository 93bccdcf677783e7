// The one form of all errors (wire.md "Errors").
#pragma once

#include "runtime/error.hpp"
#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

/// Returns {"error": <message>, "code": <number>, "message": <message>, "details": []} with the error's
/// status, and Retry-After if the same request may succeed later (429, 503).
http_response error_response(const error&);

}  // namespace herald::runtime::http::server
