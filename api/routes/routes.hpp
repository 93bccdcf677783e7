// Every route of the program, in one flat table. The OpenAPI document is made from it, too.
#pragma once

#include <span>

#include "api/calls/route.hpp"

namespace herald::api::routes {

enum class metrics_here : bool { no, yes };

/// The routes of an API node; without /metrics if that has an address of its own.
std::span<const calls::route> all_routes(metrics_here = metrics_here::yes);
/// /healthz, /readyz and /metrics: for workers, and for a separate metrics address.
std::span<const calls::route> operator_routes();

}  // namespace herald::api::routes
