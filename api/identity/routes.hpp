// The routes of users, workspaces, organizations, groups and roles. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::identity {

std::span<const calls::route> identity_routes();

/// All of the area.
inline constexpr std::array tables{identity_routes};

}  // namespace herald::api::identity
