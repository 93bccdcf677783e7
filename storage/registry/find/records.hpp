// Single records, for answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/feature_flags.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/tables/outcomes.hpp"

namespace herald::storage::registry::find {

/// Whether the outcome of a request with this Idempotency-Key is kept: of this one, or of another.
bool has_outcome(const state::state_view&, const schemas::commands::request_identity&);
/// On, and without content, until somebody sets it.
schemas::feature_flag feature_flag_of(const state::state_view&, schemas::flag_name);
/// A promotion of a version that is in production, with the version's names.
struct named_promotion {
    schemas::promotion row;
    std::string model_name;
    std::string version;
};
/// Of the workspace's versions in production that a transition led there, those that were changed last; at
/// most `most`. With `only`, those of this status. Looks at limits::promotions_looked_at_max versions.
std::vector<named_promotion> newest_promotions(const state::state_view&, schemas::workspace_id,
                                               std::optional<schemas::promotion_status> only,
                                               std::size_t most);
/// The version's newest promotion; with status NONE when there never was one.
schemas::promotion promotion_of(const state::state_view&, schemas::version_id);

}  // namespace herald::storage::registry::find
