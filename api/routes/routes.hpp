// Every route of the program: the flat table that also makes the OpenAPI document.
#pragma once

#include <span>

#include "api/calls/route.hpp"

namespace herald::api::routes {

std::span<const calls::route> all_routes();

}  // namespace herald::api::routes
