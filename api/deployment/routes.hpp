// The routes of builds and their scans. A file of handlers ends with its rows.
#pragma once

#include <span>

#include "api/calls/route.hpp"

namespace herald::api::deployment {

std::span<const calls::route> build_routes();  // builds.cpp
std::span<const calls::route> scan_routes();   // scans.cpp

}  // namespace herald::api::deployment
