// The result of a transition's reviews (wire.md "Stage transitions").
#pragma once

#include <vector>

#include "schemas/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::find {

/// How a transition stands at one place in the log, by the policies and the people of that place.
struct verdict {
    schemas::transition_state state = schemas::transition_state::pending;
    std::vector<schemas::user_id> approved_by;  // whose approvals count
    bool has_outdated = false;                  // approvals, of something else than the version is now
};

/// Only each user's last word counts, and only of who may still approve or reject there; never the author's.
/// An approval is of the version as it was: it counts while what a lock protects is unchanged. Any rejection
/// rejects; `approvals_required` approvals approve. A transition that was closed or committed stays so.
verdict judge(const state::state_view&, const tables::transition_row&,
              const access::placed<schemas::model_version>&);

bool is_open(const tables::transition_row&);

/// Whether the user may approve or reject it, and whether they have: only then nothing is awaited from them.
bool may_review(const state::state_view&, schemas::user_id, const tables::transition_row&,
                const schemas::workspace&);
bool has_reviewed(schemas::user_id, const tables::transition_row&, const schemas::model_version&);

}  // namespace herald::storage::registry::find
