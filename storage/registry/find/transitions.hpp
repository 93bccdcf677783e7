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

/// Whether the policy require_approval_for of the workspace holds the stage.
bool needs_approval(const schemas::workspace&, schemas::stage);

/// What a change of a version's stage needs, and what of that is there.
struct readiness {
    std::uint32_t approvals_required = 0;     // 0: none are needed
    verdict reviewed;                         // of the open transition to the stage; without one, pending
    std::vector<schemas::user_id> reviewers;  // some who may approve, at most limits::reviewers_named_max
    bool needs_safe_scan = false;
    bool has_safe_scan = false;
};
/// As long as there is no transition, `asking` is the one who would ask for it, and so may not approve it.
/// Looks at limits::reviewers_looked_at_max members of groups.
readiness readiness_for(const state::state_view&, schemas::user_id asking,
                        const access::placed<schemas::model_version>&, schemas::stage);

/// Whether the user may approve or reject it, and whether they have: only then nothing is awaited from them.
bool may_review(const state::state_view&, schemas::user_id, const tables::transition_row&,
                const schemas::workspace&);
bool has_reviewed(schemas::user_id, const tables::transition_row&, const schemas::model_version&);

}  // namespace herald::storage::registry::find
