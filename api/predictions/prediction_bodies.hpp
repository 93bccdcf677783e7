// The bodies of predictions: what comes is inflated and bounded, what goes gets its form.
#pragma once

#include <string>
#include <string_view>

#include "api/predictions/prediction_memory.hpp"
#include "api/predictions/routed_prediction.hpp"
#include "runtime/error.hpp"
#include "runtime/http/message.hpp"

namespace herald::api::predictions {

/// A body as the model takes it: as it came, or inflated.
struct plain_body {
    std::string inflated;
    std::string_view bytes;
};
/// Errors: invalid_argument (415) for another coding than gzip and deflate; those of inflated;
/// resource_exhausted, as 413, or as 429 when there is no room.
result<void> inflate_body(const routed_prediction&, plain_body&, prediction_memory&);

/// Whether a header Accept asks for JSON that every reader takes: `application/json; strict` is among its
/// media types, with whatever else.
bool accepts_strict_json(std::string_view accept) noexcept;

/// Into an answer that has none yet. Errors: the body's own; failed_precondition for one that is too long.
result<void> write_json(result<std::string> body, runtime::http::http_response& out);

runtime::http::http_response json_response(std::string body);
runtime::http::http_response response_of(serving::engines::body_response);
/// {"error": "<text>"} in the v2 protocol.
runtime::http::http_response refusal_of(const error&, bool is_of_v2_protocol);

}  // namespace herald::api::predictions
