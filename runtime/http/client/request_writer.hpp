// The bytes of a request.
#pragma once

#include <string>
#include <string_view>

#include "runtime/http/client/client.hpp"
#include "runtime/http/client/location.hpp"

namespace herald::runtime::http::client {

/// The head, and the body that is there as a whole. Control characters in the values of headers become
/// spaces.
std::string request_text(const request&, const location&);

/// A piece of a body of unknown length; the empty one ends it.
std::string chunk_text(std::string_view piece);

}  // namespace herald::runtime::http::client
