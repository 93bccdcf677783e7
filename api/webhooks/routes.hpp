// The routes of webhooks. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::webhooks {

std::span<const calls::route> webhook_routes();
std::span<const calls::route> event_routes();
std::span<const calls::route> delivery_routes();
std::span<const calls::route> retry_routes();
std::span<const calls::route> replay_routes();
std::span<const calls::route> webhook_call_routes();
std::span<const calls::route> webhook_health_routes();

/// All of the area.
inline constexpr std::array tables{webhook_routes, event_routes,        delivery_routes,      retry_routes,
                                   replay_routes,  webhook_call_routes, webhook_health_routes};

}  // namespace herald::api::webhooks
