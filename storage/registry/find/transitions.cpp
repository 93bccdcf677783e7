#include "storage/registry/find/transitions.hpp"

#include <algorithm>

#include "storage/registry/find/builds.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/groups.hpp"

namespace herald::storage::registry::find {

using schemas::transition_state;
using tables::review;
using tables::transition_row;

namespace {

bool is_outdated(const review& each, const schemas::model_version& version) {
    return each.approve && each.time < version.time_ingredients_changed;
}

bool holds(const std::vector<schemas::stage>& stages, schemas::stage wanted) {
    return std::find(stages.begin(), stages.end(), wanted) != stages.end();
}

/// Some of the workspace's users who may approve what `author` asks for: admins first, then by their groups.
std::vector<schemas::user_id> reviewers_of(const state::state_view& state,
                                           const schemas::workspace& workspace, const transition_row& row) {
    std::vector<schemas::group_id> groups;
    if (workspace.org_id) groups.push_back(workspace.admins);
    for (const schemas::permission& each : workspace.permissions) groups.push_back(each.group_id);
    std::vector<schemas::user_id> found;
    std::size_t looked_at = 0;
    const auto look = [&](schemas::user_id user) {
        const bool is_new = std::find(found.begin(), found.end(), user) == found.end();
        if (is_new && may_review(state, user, row, workspace)) found.push_back(user);
        return ++looked_at < limits::reviewers_looked_at_max && found.size() < limits::reviewers_named_max;
    };
    for (const schemas::group_id each : groups)
        if (looked_at < limits::reviewers_looked_at_max && found.size() < limits::reviewers_named_max)
            tables::members::each_user_of(state, each, {}, look);
    return found;
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

bool needs_approval(const schemas::workspace& workspace, schemas::stage desired) {
    return holds(workspace.policies.require_approval_for, desired);
}

readiness readiness_for(const state::state_view& state, schemas::user_id asking,
                        const access::placed<schemas::model_version>& of, schemas::stage desired) {
    const auto open = tables::transitions::open_to(state, of.row.id, desired);
    transition_row row = open ? *tables::transitions::find(state, *open) : transition_row();
    if (!open) row.author = asking;
    readiness out;
    if (needs_approval(of.workspace, desired))
        out.approvals_required = std::max(of.workspace.policies.approvals_required, 1u);
    if (open) out.reviewed = judge(state, row, of);
    out.reviewers = reviewers_of(state, of.workspace, row);
    out.needs_safe_scan = holds(of.workspace.policies.require_safe_scan_for, desired);
    out.has_safe_scan = has_safe_build(state, of.row);
    return out;
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
