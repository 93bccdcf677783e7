// Every route of the program: the flat table that also makes the OpenAPI document.
#pragma once

#include <span>

#include "api/calls/route.hpp"

namespace herald::api::routes {

enum class metrics_here : bool { no, yes };

/// Of an API node; without /metrics where that has an address of its own.
std::span<const calls::route> all_routes(metrics_here = metrics_here::yes);
/// /healthz, /readyz and /metrics: of a worker, and of the address for metrics.
std::span<const calls::route> operator_routes();

}  // namespace herald::api::routes
