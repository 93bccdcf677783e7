// The form of records in the bodies of events (wire.md "Events").
#pragma once

#include <string>

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas {

/// Registry dialect, with owner_id and workspace_service_id in addition to owner and workspace_id.
std::string view_of(const registered_model&);
std::string view_of(const model_version&);
/// Deployment dialect: ids are numbers, times ISO-8601.
std::string view_of(const build&);
/// The same, without full_url: by which address a caller finds it.
std::string view_of(const endpoint&);
/// The PROMOTE body: exactly the eleven fields of spec.md §2.3, all as strings.
std::string promote_body(const model_version&);

}  // namespace herald::schemas
