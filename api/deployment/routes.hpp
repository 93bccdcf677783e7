// The routes of builds and their scans. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::deployment {

std::span<const calls::route> build_routes();  // builds.cpp
std::span<const calls::route> scan_routes();   // scans.cpp

/// All of the area.
inline constexpr std::array tables{build_routes, scan_routes};

}  // namespace herald::api::deployment
