// The OpenAPI document, made from the route table. It contains exactly the routes, and the parts that are not
// in the table.
#pragma once

#include <span>
#include <string>

#include "api/calls/document_part.hpp"
#include "api/calls/route.hpp"

namespace herald::api {

/// OpenAPI 3.1, JSON. The answer to GET /api/openapi.json.
std::string openapi_document(std::span<const calls::route>, const calls::document_part& beside = {});

}  // namespace herald::api
