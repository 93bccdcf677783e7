// The routes of the console: its pages and files, and the session that a browser has.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::console {

/// The pages and what they consist of; in a program that was built without the console, a text at `/`.
std::span<const calls::route> page_routes();     // pages.cpp or no_pages.cpp
std::span<const calls::route> session_routes();  // sessions.cpp

inline constexpr std::array tables{page_routes, session_routes};

}  // namespace herald::api::console
