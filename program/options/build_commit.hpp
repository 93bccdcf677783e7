// Which sources this program was built from.
#pragma once

#include <string>
#include <string_view>

namespace herald::program {

/// The commit's first twelve digits, as HERALD_COMMIT or git said when the build was configured; else
/// "unknown".
std::string_view build_commit();

/// What `herald version` prints: "herald 0.9.0 (0123456789ab)".
std::string version_text();

/// herald_build_info, from now on.
void show_build_info();

}  // namespace herald::program
