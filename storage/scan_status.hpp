// Whether a build, or a version through one of its builds, passed its vulnerability scan (wire.md §4).
#pragma once

#include "schemas/deployment.hpp"
#include "storage/tables.hpp"

namespace herald::storage {

/// The build's newest scan; none: unscanned.
std::optional<schemas::scan> newest_scan(const state_view&, const schemas::build&);
/// The version's builds, oldest first, at most `most`.
std::vector<schemas::build> builds_of(const state_view&, schemas::version_id, std::size_t most);
/// Whether a finished build's newest scan is scanned and safe. Everything else fails closed.
bool has_safe_build(const state_view&, schemas::version_id);

}  // namespace herald::storage
