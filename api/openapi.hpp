// The OpenAPI document, made from the route table: it contains exactly the routes.
#pragma once

#include <span>
#include <string>

#include "api/calls/router.hpp"

namespace herald::api {

/// OpenAPI 3.1, JSON. The answer to GET /api/openapi.json.
std::string openapi_document(std::span<const calls::route>);

}  // namespace herald::api
