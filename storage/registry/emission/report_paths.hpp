// Where the receivers of PROMOTE and REQUEST_SCAN report (wire.md §7): paths of this service's own routes.
#pragma once

#include <string>
#include <string_view>

#include "schemas/ids.hpp"

namespace herald::storage::registry::emission {

/// The PUT of the result of a build's scan (wire.md §4).
std::string path_of_scan_report(std::string_view workspace_name, schemas::build_id);
/// The image of a build that Herald has made: its bytes have this SHA-256.
std::string path_of_image(std::string_view workspace_name, schemas::build_id, std::string_view digest);
/// The PUT that completes a version's promotion (wire.md §3).
std::string path_of_completion(schemas::model_id, schemas::version_id);

}  // namespace herald::storage::registry::emission
