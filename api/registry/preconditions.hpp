// If-Match and If-None-Match (RFC 9110 §13).
#pragma once

#include <cstdint>
#include <string_view>

#include "api/calls/streamed_call.hpp"

namespace herald::api::registry {

enum class precondition : std::uint8_t { holds, not_modified, failed };

/// Whether the request has a condition at all.
bool has_condition(const calls::streamed_call&);

/// What the request's conditions say about the bytes with this ETag, in quotes; empty: there are none.
/// not_modified only for GET and HEAD.
precondition precondition_of(const calls::streamed_call&, std::string_view etag);

}  // namespace herald::api::registry
