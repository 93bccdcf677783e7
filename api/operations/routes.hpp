// The routes for operators: health, metrics, backups, audit, flags. A file of handlers ends with its rows.
#pragma once

#include <array>
#include <span>

#include "api/calls/route.hpp"

namespace herald::api::operations {

/// /metrics, the first, /healthz and /readyz: for anybody.
std::span<const calls::route> operator_routes();  // operator_endpoints.cpp
/// The OpenAPI document.
std::span<const calls::route> document_routes();      // operator_endpoints.cpp
std::span<const calls::route> feature_flag_routes();  // feature_flags.cpp
std::span<const calls::route> audit_routes();         // audit.cpp
std::span<const calls::route> backup_routes();        // backups.cpp

/// What the table of routes begins with.
inline constexpr std::array tables{operator_routes, document_routes};

}  // namespace herald::api::operations
