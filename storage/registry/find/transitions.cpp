#include "storage/registry/find/transitions.hpp"

#include <algorithm>

namespace herald::storage::registry::find {

using schemas::transition_state;
using tables::review;
using tables::transition_row;

namespace {

bool is_outdated(const review& each, const schemas::model_version& version) {
    return each.approve && each.time < version.time_ingredients_changed;
}

}  // namespace

bool is_open(const transition_row& row) {
    return row.transition.state != transition_state::closed &&
           row.transition.state != transition_state::committed;
}

bool may_review(const state::state_view& state, schemas::user_id user, const transition_row& row,
                const schemas::workspace& workspace) {
    return user != row.author &&
           access::is_allowed(state, user, workspace, schemas::protected_type::registered_model,
                              schemas::action::approve_reject);
}

bool has_reviewed(schemas::user_id user, const transition_row& row, const schemas::model_version& version) {
    return std::any_of(row.reviews.begin(), row.reviews.end(),
                       [&](const review& each) { return each.user == user && !is_outdated(each, version); });
}

verdict judge(const state::state_view& state, const transition_row& row,
              const access::placed<schemas::model_version>& of) {
    const schemas::workspace& workspace = of.workspace;
    verdict out;
    bool is_rejected = false;
    for (const review& each : row.reviews) {
        if (!may_review(state, each.user, row, workspace)) continue;
        if (is_outdated(each, of.row))
            out.has_outdated = true;
        else if (each.approve)
            out.approved_by.push_back(each.user);
        else
            is_rejected = true;
    }
    if (!is_open(row))
        out.state = row.transition.state;
    else if (is_rejected)
        out.state = transition_state::rejected;
    else if (out.approved_by.size() >= std::max(workspace.policies.approvals_required, 1u))
        out.state = transition_state::approved;
    return out;
}

}  // namespace herald::storage::registry::find
