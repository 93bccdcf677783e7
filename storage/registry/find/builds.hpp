// The builds of a version, their scans, and whether one of them passed its scan (wire.md §4).
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::build> build_of(const state::state_view&, schemas::build_id);
/// Builds that wait to be made, the oldest first; at most `most`.
std::vector<schemas::build> unfinished_builds(const state::state_view&, std::size_t most);
/// The build's newest scan; empty: unscanned.
std::optional<schemas::scan> newest_scan(const state::state_view&, const schemas::build&);
/// As newest_scan; if there is none, a scan without an id, as old as the build.
schemas::scan scan_to_show(const state::state_view&, const schemas::build&);
/// The build's scans before that one (0: none), oldest first; the newest `scans_max` of them.
std::vector<schemas::scan> scans_before(const state::state_view&, schemas::build_id, schemas::scan_id,
                                        std::size_t scans_max);
/// The version's builds, newest first, in the workspaces whose builds the user may read; at most
/// limits::builds_per_version_max of each workspace. Errors: not_found for a version that the user may not
/// read; invalid_argument for pagination that cannot be used.
result<search_pointer<schemas::build>> search_builds(const state::state_view&, schemas::user_id,
                                                     schemas::version_id, const schemas::pagination&);
/// Whether a finished build in the version's own workspace has a newest scan that is scanned and safe, and no
/// scan that ever said unsafe, and was made of the version as it is: no ingredient of an image has changed
/// since. Everything else counts as not safe: in other workspaces, other people decide who may report a scan.
bool has_safe_build(const state::state_view&, const schemas::model_version&);

}  // namespace herald::storage::registry::find
