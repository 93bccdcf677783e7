// Whether a request was decided before.
#pragma once

#include "storage/registry/tables/outcomes.hpp"

namespace herald::storage::registry::find {

/// Whether the outcome of a request with this Idempotency-Key is kept: of this one, or of another.
bool has_outcome(const state::state_view&, const schemas::commands::request_identity&);

}  // namespace herald::storage::registry::find
