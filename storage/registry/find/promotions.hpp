// The progress of a version's promotion.
#pragma once

#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The version's newest promotion; with status NONE when there never was one.
schemas::promotion promotion_of(const state::state_view&, schemas::version_id);

}  // namespace herald::storage::registry::find
