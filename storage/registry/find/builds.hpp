// The builds of a version, their scans, and whether one of them passed its scan (wire.md §4).
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The build's newest scan; empty: unscanned.
std::optional<schemas::scan> newest_scan(const state::state_view&, const schemas::build&);
/// As newest_scan; if there is none, a scan without an id, as old as the build.
schemas::scan scan_to_show(const state::state_view&, const schemas::build&);
/// The build's scans except the newest, oldest first; at most `scans_max`.
std::vector<schemas::scan> older_scans(const state::state_view&, const schemas::build&,
                                       std::size_t scans_max);
/// The version's builds, oldest first, in the workspaces whose builds the user may read; at most
/// limits::builds_per_version_max of each workspace.
std::vector<schemas::build> readable_builds(const state::state_view&, schemas::user_id, schemas::version_id);
/// Whether a finished build in the version's own workspace has a newest scan that is scanned and safe, and no
/// scan that ever said unsafe. Everything else counts as not safe: in other workspaces, other people decide
/// who may report a scan.
bool has_safe_build(const state::state_view&, const schemas::model_version&);

}  // namespace herald::storage::registry::find
