// The builds of a version, their scans, and whether one of them passed its scan (wire.md §4).
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The build's newest scan; none: unscanned.
std::optional<schemas::scan> newest_scan(const state::state_view&, const schemas::build&);
/// As newest_scan; for none, a scan without an id, as old as the build.
schemas::scan scan_to_show(const state::state_view&, const schemas::build&);
/// The build's scans but the newest, oldest first: at most `scans_max`.
std::vector<schemas::scan> older_scans(const state::state_view&, const schemas::build&,
                                       std::size_t scans_max);
/// The version's builds, oldest first, in the workspaces whose builds the user may read: of each at most
/// limits::builds_per_version_max.
std::vector<schemas::build> readable_builds(const state::state_view&, schemas::user_id, schemas::version_id);
/// Whether the newest scan of a finished build in the version's own workspace is scanned and safe, and none
/// of the build's scans ever said unsafe. Everything else fails closed: elsewhere others decide who reports a
/// scan.
bool has_safe_build(const state::state_view&, const schemas::model_version&);

}  // namespace herald::storage::registry::find
