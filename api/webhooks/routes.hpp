// The routes of webhooks. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::webhooks {

std::span<const calls::route> webhook_routes();
std::span<const calls::route> event_routes();

/// All of the area.
inline constexpr std::array tables{webhook_routes, event_routes};

}  // namespace herald::api::webhooks
