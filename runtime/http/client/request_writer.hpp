// The bytes of a request.
#pragma once

#include <string>
#include <string_view>

#include "runtime/http/client/client.hpp"
#include "runtime/http/client/location.hpp"

namespace herald::runtime::http::client {

/// The head, and the body if it is in memory as a whole. Control characters in header values become spaces.
std::string request_text(const request&, const location&);

/// A piece of a body of unknown length; an empty piece ends it.
std::string chunk_text(std::string_view piece);

}  // namespace herald::runtime::http::client
