#include "tests/simulation/governance/reference.hpp"

#include <algorithm>

#include "storage/registry/find/builds.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::test::governance {

using schemas::lock_level;
using schemas::promotion_status;
using schemas::stage;
using schemas::user_id;
using storage::registry::state::state_view;
namespace tables = storage::registry::tables;

namespace {

bool holds(const std::vector<stage>& stages, stage one) {
    return std::find(stages.begin(), stages.end(), one) != stages.end();
}

int strictness(lock_level level) {
    return level == lock_level::closed ? 2 : level == lock_level::redact ? 1 : 0;
}

void must(bool holds, const move& step, std::string_view rule) {
    if (!holds) throw invariant_broken(std::string(rule) + "; the last step: " + step.words);
}

}  // namespace

/// What the rows say.
struct memory::opinion {
    explicit opinion(const state_view& state) {
        if (auto row = tables::versions::find(state, the_version)) {
            is_there = true;
            version = *std::move(row);
        }
        promotion = tables::promotions::find(state, the_version).value_or(schemas::promotion{});
        tables::activities::each_of(state, the_version, {}, [&](schemas::activity_id id) {
            newest = id;
            return true;
        });
    }
    bool is_there = false;
    schemas::model_version version;
    schemas::promotion promotion;
    schemas::activity_id newest;
};

bool memory::may_update(user_id user) const { return user != bob || x_bob == bobs_role::editor; }
bool memory::may_approve(user_id user) const { return user != bob || x_bob != bobs_role::reader; }

bool memory::is_safe() const {
    return std::any_of(x_builds.begin(), x_builds.end(), [](const build& one) {
        return one.newest == scan::safe && !one.was_unsafe && !one.is_outdated;
    });
}

bool memory::is_rejected(const transition& one) const {
    return std::any_of(one.last_word.begin(), one.last_word.end(),
                       [&](const auto& word) { return !word.second && may_approve(word.first); });
}

bool memory::is_approved(const transition& one) const {
    const auto approvals = std::count_if(one.last_word.begin(), one.last_word.end(), [&](const auto& word) {
        return word.second && may_approve(word.first);
    });
    return !is_rejected(one) &&
           approvals >= static_cast<std::ptrdiff_t>(std::max(x_policies.approvals_required, 1u));
}

bool memory::needs_approval(stage to) const { return holds(x_policies.require_approval_for, to); }
bool memory::lacks_scan(stage to) const { return holds(x_policies.require_safe_scan_for, to) && !is_safe(); }

bool memory::may_commit(const transition& one) const {
    return one.is_open && !is_rejected(one) && one.source == x_stage && !lacks_scan(one.desired) &&
           (!needs_approval(one.desired) || is_approved(one));
}

void memory::saw(const move& step, bool succeeded, const commands::create_transition& command,
                 const opinion& after) {
    if (!succeeded) return;
    must(may_update(step.by), step, "a transition was created without UPDATE");
    if (command.desired_stage == x_stage) return;  // it is there already: only an entry in the history
    for (const auto& [id, other] : x_transitions)
        must(!other.is_open || other.desired != command.desired_stage, step,
             "a second transition to one stage was opened");
    x_transitions[after.newest.value] = {step.by, x_stage, command.desired_stage, true, {}};
}

void memory::saw(const move& step, bool succeeded, const commands::review_transition& command,
                 const opinion& after) {
    transition& one = x_transitions.at(command.transition_id.value);
    const bool may = one.is_open && may_approve(step.by) && step.by != one.author && after.is_there;
    must(
        succeeded == may, step,
        succeeded
            ? "a review of an author, of somebody without APPROVE_REJECT, or of a closed transition was taken"
            : "a review was refused that wire.md §3 allows");
    if (!succeeded) return;
    one.last_word[step.by] = command.approve;
    // It commits in the name of who asked for it.
    if (command.approve && x_policies.commit_on_approve && is_approved(one) && may_commit(one) &&
        may_update(one.author)) {
        must(after.version.stage == one.desired, step, "commit_on_approve did not commit what was approved");
        one.is_open = false;
        x_stage = one.desired;
    }
}

void memory::saw(const move& step, bool succeeded, const commands::close_transition& command,
                 const opinion&) {
    if (!succeeded) return;
    must(may_update(step.by), step, "a transition was closed without UPDATE");
    x_transitions.at(command.transition_id.value).is_open = false;
}

void memory::saw(const move& step, bool succeeded, const commands::commit_transition& command,
                 const opinion& after) {
    transition& one = x_transitions.at(command.transition_id.value);
    must(succeeded == (may_commit(one) && may_update(step.by) && after.is_there), step,
         succeeded ? "a transition was committed without what the policies of its place demand"
                   : "a commit was refused that the policies of its place allow");
    if (!succeeded) return;
    one.is_open = false;
    x_stage = one.desired;
}

void memory::saw(const move& step, bool succeeded, const commands::update_stage& command,
                 const opinion& after) {
    const bool may =
        may_update(step.by) && after.is_there &&
        (command.stage == x_stage || (!needs_approval(command.stage) && !lacks_scan(command.stage)));
    must(!succeeded || may, step, "the stage was set without what the policies of its place demand");
    if (succeeded) x_stage = command.stage;
}

void memory::saw(const move&, bool succeeded, const commands::request_scan& command, const opinion&) {
    if (succeeded) x_builds.at(command.build_id.value - 1).newest = scan::going;
}

void memory::saw(const move& step, bool succeeded, const commands::report_scan& command, const opinion&) {
    if (!succeeded) return;
    must(may_update(step.by), step, "a scan was reported by somebody who may not");
    build& one = x_builds.at(command.build_id.value - 1);
    const bool says_unsafe = command.safety_status == schemas::safety_status::unsafe;
    must(one.newest == scan::going || one.newest == scan::failed || says_unsafe ||
             (one.newest == scan::safe && command.safety_status == schemas::safety_status::safe),
         step, "a finished scan was changed, and not to unsafe");
    if (says_unsafe) one.was_unsafe = true;
    one.newest = command.scan_status == schemas::scan_status::error ? scan::failed
                 : says_unsafe                                      ? scan::unsafe
                                                                    : scan::safe;
}

void memory::saw(const move& step, bool succeeded, const commands::set_policies& command, const opinion&) {
    must(!succeeded || step.by == admin, step, "the policies were set by somebody who is no workspace admin");
    if (succeeded) x_policies = command.policies;
}

void memory::saw(const move&, bool, const change_of_role& change, const opinion&) { x_bob = change.to; }

void memory::saw(const move&, bool, const passing_of_time&, const opinion&) {
    for (build& one : x_builds)
        if (one.newest == scan::going) one.newest = scan::failed;
}

/// What was approved, and what was built, was the version as it was then.
void memory::saw_contents(const opinion& before, const opinion& after) {
    if (!after.is_there) return;
    if (before.version.environment == after.version.environment) return;
    for (build& one : x_builds) one.is_outdated = true;
    for (auto& [id, one] : x_transitions)
        std::erase_if(one.last_word, [](const auto& word) { return word.second; });
}

void memory::check_stage(const move& step, const opinion& before, const opinion& after) {
    must(!after.is_there || after.version.stage == x_stage, step,
         "the stage is not the one that was last committed or set");
    must(before.is_there || !after.is_there, step, "a deleted version is back");
}

void memory::check_lock(const move& step, const opinion& before, const opinion& after) const {
    if (!before.is_there) return;
    const bool changed = !after.is_there || before.version.environment != after.version.environment;
    if (before.version.lock_level == lock_level::closed)
        must(!changed, step, "what is CLOSED was changed or deleted");
    if (before.version.lock_level == lock_level::redact)
        must(!changed || step.by == admin, step,
             "what is REDACT was changed or deleted by somebody else than an admin");
    must(!changed || may_update(step.by), step, "a version was changed or deleted without the right to it");
    if (after.is_there && strictness(after.version.lock_level) < strictness(before.version.lock_level))
        must(step.by == admin, step, "a lock was lowered by somebody who is no workspace admin");
}

void memory::check_promotion(const move& step, const opinion& before, const opinion& after) const {
    if (!after.is_there) return;
    const promotion_status was = before.promotion.status, is = after.promotion.status;
    const bool begun = is == promotion_status::in_progress &&
                       (was != is || before.promotion.transition_id != after.promotion.transition_id);
    const bool entered =
        before.version.stage != stage::production && after.version.stage == stage::production;
    if (begun)
        must(entered && !std::holds_alternative<commands::update_stage>(step.what), step,
             "a promotion began without the commit of a transition to PRODUCTION");
    if (entered && !std::holds_alternative<commands::update_stage>(step.what))
        must(begun, step, "a transition to PRODUCTION was committed and no promotion began");
    if (is != was && !begun)
        must(was == promotion_status::in_progress &&
                 (is == promotion_status::complete || is == promotion_status::failed),
             step, "the status of a promotion skipped");
    must(is != promotion_status::in_progress || after.version.stage == stage::production, step,
         "a promotion is in progress of a version that is not in PRODUCTION");
}

void memory::check_safety(const state_view& state, const opinion& after) const {
    if (!after.is_there) return;
    if (storage::registry::find::has_safe_build(state, after.version) != is_safe())
        throw invariant_broken(is_safe() ? "a safe build does not count as safe"
                                         : "a build counts as safe that is not, or was once unsafe");
}

void memory::see(const move& step, bool succeeded, const state_view& before, const state_view& after) {
    const opinion then(before), now(after);
    std::visit([&](const auto& what) { saw(step, succeeded, what, now); }, step.what);
    saw_contents(then, now);
    check_stage(step, then, now);
    check_lock(step, then, now);
    check_promotion(step, then, now);
    check_safety(after, now);
}

std::string memory::text() const {
    const auto number = [](auto value) { return std::to_string(static_cast<int>(value)) + " "; };
    std::string text = number(x_stage) + number(x_bob) + "policies ";
    for (const stage one : x_policies.require_approval_for) text += number(one);
    text += "/ ";
    for (const stage one : x_policies.require_safe_scan_for) text += number(one);
    text += number(x_policies.approvals_required) + number(x_policies.commit_on_approve);
    for (const auto& [id, one] : x_transitions) {  // by id: in the order of their beginning
        if (!one.is_open) continue;
        text += "\ntransition " + number(one.author.value) + number(one.source) + number(one.desired);
        for (const auto& [user, approves] : one.last_word) text += number(user.value) + number(approves);
    }
    std::array<build, 2> builds = x_builds;
    std::sort(builds.begin(), builds.end());
    for (const build& one : builds)
        text += "\nbuild " + number(one.newest) + number(one.was_unsafe) + number(one.is_outdated);
    return text;
}

}  // namespace herald::test::governance
