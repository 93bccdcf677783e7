// The routes of builds and their scans, of endpoints, their stages and access tokens. A file of handlers ends
// with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::deployment {

std::span<const calls::route> build_routes();           // builds.cpp
std::span<const calls::route> scan_routes();            // scans.cpp
std::span<const calls::route> endpoint_routes();        // endpoints.cpp
std::span<const calls::route> endpoint_stage_routes();  // endpoint_stages.cpp
std::span<const calls::route> update_routes();          // updates.cpp
std::span<const calls::route> access_token_routes();    // access_tokens.cpp
std::span<const calls::route> endpoint_tool_routes();   // endpoint_tools.cpp
std::span<const calls::route> image_routes();           // images.cpp
std::span<const calls::route> docker_context_routes();  // docker_context.cpp

/// All of the area.
inline constexpr std::array tables{build_routes,          scan_routes,           endpoint_routes,
                                   endpoint_stage_routes, update_routes,         access_token_routes,
                                   endpoint_tool_routes,  docker_context_routes, image_routes};

}  // namespace herald::api::deployment
