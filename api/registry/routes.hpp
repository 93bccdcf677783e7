// The routes of models, versions and their stages. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::registry {

std::span<const calls::route> artifact_routes();  // artifacts.cpp
std::span<const calls::route> model_routes();     // models.cpp
std::span<const calls::route> version_routes();   // versions.cpp
std::span<const calls::route> stage_routes();     // stages.cpp
std::span<const calls::route> policy_routes();    // policies.cpp

/// All of the area.
inline constexpr std::array tables{model_routes, version_routes, stage_routes, policy_routes,
                                   artifact_routes};

}  // namespace herald::api::registry
