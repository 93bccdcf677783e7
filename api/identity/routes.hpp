// The routes of users, workspaces, organizations, groups and roles. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::identity {

std::span<const calls::route> user_routes();          // users.cpp
std::span<const calls::route> workspace_routes();     // workspaces.cpp
std::span<const calls::route> organization_routes();  // organizations.cpp

/// All of the area.
inline constexpr std::array tables{user_routes, workspace_routes, organization_routes};

}  // namespace herald::api::identity
