// Single records, for answers.
#pragma once

#include "schemas/feature_flags.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/tables/outcomes.hpp"

namespace herald::storage::registry::find {

/// Whether the outcome of a request with this Idempotency-Key is kept: of this one, or of another.
bool has_outcome(const state::state_view&, const schemas::commands::request_identity&);
/// On, and without content, until somebody sets it.
schemas::feature_flag feature_flag_of(const state::state_view&, schemas::flag_name);
/// The version's newest promotion; with status NONE when there never was one.
schemas::promotion promotion_of(const state::state_view&, schemas::version_id);

}  // namespace herald::storage::registry::find
