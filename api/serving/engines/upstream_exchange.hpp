// What is said to the server of an upstream build, and what its answers mean (wire.md §6). Pure.
#pragma once

#include <string>

#include "api/serving/engines/engine.hpp"
#include "runtime/http/client/client.hpp"

namespace herald::api::serving::engines {

/// The URL of the health check: scheme and authority of `upstream_url`, and `health_path` as its target.
/// Errors: invalid_argument when the path does not begin with a slash or holds what no URL may.
result<std::string> health_url(std::string_view upstream_url, std::string_view health_path);

/// The HTTP request of an inference. Nothing that the caller sent is in it but the body, what says how to
/// read that, and the id: no credentials, no cookies, no header of the connection. `deadline_ms`: how long it
/// may take.
runtime::http::client::request request_to(const std::string& url, const std::string& pool_key, body_request,
                                          std::int64_t deadline_ms);

/// Only status, Content-Type, Content-Encoding and body come back, and Retry-After of a 429. 2xx stays as it
/// is, 400 and 422 are 400. A body that follows is left to the caller. Errors: deadline_exceeded when nothing
/// came in time, or not all of it; unavailable when this process lacked descriptors or memory, or has as many
/// calls under way at the server as it may; else internal with status 502, which says whether anything of an
/// answer came.
result<body_response> meaning_of(runtime::http::client::answer);

/// Why the server is unhealthy; empty when it is. With a health path it must answer 2xx; without one, a
/// connection is enough, which `was_connected` tells.
std::string why_unhealthy(const runtime::http::client::answer&, bool has_health_path, bool was_connected);

}  // namespace herald::api::serving::engines
