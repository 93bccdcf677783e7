// The only way in which a version gets another stage: a change is permitted first, by the policies of its
// workspace at this place in the log, and made then (wire.md "Stage transitions"). What is not permitted
// cannot be written down as a change.
#pragma once

#include "storage/registry/access/access.hpp"
#include "storage/registry/context/rule_context.hpp"
#include "storage/registry/find/transitions.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::rules {

/// A change that somebody who may change the version asks for. Nothing of it is owned: all of it outlives the
/// change.
struct wanted_change {
    const access::placed<schemas::model_version>& of;
    schemas::stage desired = schemas::stage::unknown;
    /// The transition that is committed; null: the stage changes without one.
    const tables::transition_row* transition = nullptr;
};

/// Made by permit() alone.
class permitted_change {
  public:
    const wanted_change& wanted() const noexcept { return x_wanted; }
    /// Whose approvals counted; nobody's without a transition.
    const std::vector<schemas::user_id>& approved_by() const noexcept { return x_approved_by; }

  private:
    friend result<permitted_change> permit(const context::rule_context&, const wanted_change&);
    permitted_change(const wanted_change& wanted, std::vector<schemas::user_id> approved_by)
        : x_wanted(wanted), x_approved_by(std::move(approved_by)) {}

    wanted_change x_wanted;
    std::vector<schemas::user_id> x_approved_by;
};

/// In somebody's own workspace nobody else can approve: what needs approval there cannot be had. For the end
/// of a refusal, which says so.
bool is_approved_by_nobody(const schemas::workspace&, schemas::stage);
std::string take_policy_back(const schemas::workspace&, schemas::stage);

/// Errors: failed_precondition when the transition is closed, committed, rejected, or not approved although
/// the stage needs it, and without a safe scan where the stage needs one; aborted when the version's stage is
/// no longer the one that the transition began with; permission_denied without a transition to a stage that
/// needs approval.
result<permitted_change> permit(const context::rule_context&, const wanted_change&);

/// Nothing fails the promotion by its deadline any more: it has ended, or is gone.
void cancel_deadline(context::rule_context&, const schemas::promotion&);

/// Changes the stage. A transition that is committed to PRODUCTION begins a promotion, and with it exactly
/// one PROMOTE event id (P2); a change without a transition begins none. A version that leaves PRODUCTION can
/// no longer be promoted: a promotion in progress has failed.
void make(context::rule_context&, const permitted_change&);

}  // namespace herald::storage::registry::rules
