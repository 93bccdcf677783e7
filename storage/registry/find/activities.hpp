// Finds in the stage histories of versions: activities, and transitions with how they stand (wire.md "Stage
// transitions"): read-only, and only what the user may read.
#pragma once

#include <optional>
#include <vector>

#include "schemas/find.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/find/find.hpp"

namespace herald::storage::registry::find {

/// The history of one version, or of all versions of one model; with both, the version must be one of the
/// model.
struct history_place {
    schemas::model_id registered_model_id;
    schemas::version_id model_version_id;

    bool is_everywhere() const noexcept { return !registered_model_id && !model_version_id; }
};

struct transition_filter {
    std::vector<schemas::transition_state> states;  // none: any
    bool mine = false;                              // asked for by the user
    bool waiting_for_me = false;                    // pending; the user may review it and has not
};

/// The entries there, oldest first; an entry that opened a transition says how that stands, as
/// search_transitions. Errors: not_found; invalid_argument for a place that is everywhere and for pagination
/// that cannot be used.
result<search_pointer<schemas::activity>> search_activities(const state::state_view&, schemas::user_id,
                                                            const history_place&,
                                                            const std::optional<schemas::pagination>&);

/// The entries that opened transitions, oldest first; also over all that the user may read. The state of an
/// open one is what a judgement now would give. Errors: as search_activities, but it may be everywhere.
result<search_pointer<schemas::activity>> search_transitions(const state::state_view&, schemas::user_id,
                                                             const history_place&, transition_filter,
                                                             const std::optional<schemas::pagination>&);

}  // namespace herald::storage::registry::find
