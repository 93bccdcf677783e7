// The routes of users, keys, service accounts, workspaces, organizations, groups and roles. A file of
// handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::identity {

std::span<const calls::route> user_routes();             // users.cpp
std::span<const calls::route> key_routes();              // keys.cpp
std::span<const calls::route> service_account_routes();  // service_accounts.cpp
std::span<const calls::route> workspace_routes();        // workspaces.cpp
std::span<const calls::route> group_routes();            // groups.cpp
std::span<const calls::route> organization_routes();     // organizations.cpp

/// All of the area.
inline constexpr std::array tables{user_routes,      key_routes,   service_account_routes,
                                   workspace_routes, group_routes, organization_routes};

}  // namespace herald::api::identity
