// The OpenAPI document, made of the route table: what is not a route is not in it, and the other way round.
#pragma once

#include <span>
#include <string>

#include "api/calls/router.hpp"

namespace herald::api {

/// OpenAPI 3.1, JSON. Answer of GET /api/openapi.json.
std::string openapi_document(std::span<const calls::route>);

}  // namespace herald::api
