// Protects reviews: nobody approves what he asked for himself, and only who may approve counts, as the
// policies of the commit demand.
#include <gmock/gmock.h>

#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;

using schemas::promotion_status;
using schemas::transition_state;
using testing::ElementsAre;
using testing::HasSubstr;

using reviews = stage_rules;

TEST_F(reviews, of_who_may_no_longer_approve_count_neither_way) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    const auto transition = transition_to(stage::production);
    EXPECT_EQ(review(third, transition, true).activity_state, transition_state::approved);
    dismiss(third);
    const auto refused = commit(transition);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("is PENDING with 0 of 1 approvals that count"));
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::approved);
    ASSERT_EQ(commit(transition).code, 0u);
    EXPECT_THAT(promotion().approved_by, ElementsAre(other));
}

TEST_F(reviews, a_rejection_of_who_has_gone_stands_in_nobodys_way) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    const auto transition = transition_to(stage::production);
    review(other, transition, true);
    EXPECT_EQ(review(third, transition, false).activity_state, transition_state::rejected);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition);
    dismiss(third);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(reviews, need_no_right_to_update_and_give_none) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    const auto transition = transition_to(stage::production);
    review(third, transition, true);
    EXPECT_EQ(code_of(registry.run_as(third, schemas::commands::commit_transition{transition, ""})),
              error_code::permission_denied);
}

TEST_F(reviews, as_many_as_the_policy_demands_at_the_commit) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    schemas::workspace_policies two;
    two.require_approval_for = {stage::production};
    two.approvals_required = 2;
    ASSERT_EQ(set(two).code, 0u);
    const auto transition = transition_to(stage::production);
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::pending);
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::pending) << "the same user";
    EXPECT_THAT(commit(transition).message, HasSubstr("PENDING with 1 of 2 approvals"));
    EXPECT_EQ(review(third, transition, true).activity_state, transition_state::approved);
    EXPECT_EQ(commit(transition).code, 0u);
}

class commits_by_approval : public stage_rules {
  protected:
    void SetUp() override {
        schemas::workspace_policies policies;
        policies.require_approval_for = {stage::production};
        policies.commit_on_approve = true;
        ASSERT_EQ(set(policies).code, 0u);
    }
};

TEST_F(commits_by_approval, are_made_in_the_name_of_who_asked) {
    const auto transition = transition_to(stage::production);
    const activity approval = review(other, transition, true);
    EXPECT_TRUE(approval.approval);
    EXPECT_EQ(approval.author_id, other);
    EXPECT_EQ(approval.activity_state, transition_state::committed);
    EXPECT_EQ(approval.message, "");
    EXPECT_EQ(stored().stage, stage::production);
    EXPECT_EQ(promotion().status, promotion_status::in_progress);
    EXPECT_EQ(promotion().requested_by, registry.admin);
    EXPECT_THAT(promotion().approved_by, ElementsAre(other));
    const auto update = activities::find(*registry.view(), activity_id{approval.id.value + 1});
    ASSERT_TRUE(update && update->update);
    EXPECT_EQ(update->author_id, registry.admin);
    EXPECT_EQ(update->transition_id, transition);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition) << "it is final";
}

TEST_F(commits_by_approval, are_not_made_where_a_policy_does_not_hold_and_the_approval_says_why) {
    schemas::workspace_policies policies;
    policies.require_approval_for = policies.require_safe_scan_for = {stage::production};
    policies.commit_on_approve = true;
    ASSERT_EQ(set(policies).code, 0u);
    const auto transition = transition_to(stage::production);
    const activity approval = review(other, transition, true);
    EXPECT_EQ(approval.activity_state, transition_state::approved) << "it stands";
    EXPECT_THAT(approval.message, HasSubstr("require_safe_scan_for"));
    EXPECT_EQ(stored().stage, stage::unassigned);
    EXPECT_EQ(activities::find(*registry.view(), approval.id)->message, approval.message);
    policies.require_safe_scan_for = {};
    ASSERT_EQ(set(policies).code, 0u);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(commits_by_approval, wait_for_enough_of_them) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    schemas::workspace_policies policies;
    policies.approvals_required = 2;
    policies.commit_on_approve = true;
    ASSERT_EQ(set(policies).code, 0u);
    const auto transition = transition_to(stage::staging);
    EXPECT_THAT(review(other, transition, true).message, HasSubstr("PENDING"));
    EXPECT_EQ(stored().stage, stage::unassigned) << "also where no approval is needed";
    EXPECT_EQ(review(third, transition, true).activity_state, transition_state::committed)
        << "a reviewer needs no right to update";
    EXPECT_EQ(stored().stage, stage::staging);
}

TEST_F(commits_by_approval, need_an_author_who_may_still_change_the_version) {
    const user_id author = member("author@example.org", {schemas::action::read, schemas::action::update});
    const auto transition = schemas::decode<activity>(ask_for(stage::production, author).body)->id;
    dismiss(author);
    const activity approval = review(other, transition, true);
    EXPECT_EQ(approval.activity_state, transition_state::approved);
    EXPECT_THAT(approval.message, HasSubstr("may no longer change"));
    EXPECT_EQ(stored().stage, stage::unassigned);
}

TEST_F(commits_by_approval, are_not_made_by_rejections) {
    const auto transition = transition_to(stage::staging);
    EXPECT_EQ(review(other, transition, false).activity_state, transition_state::rejected);
    EXPECT_EQ(stored().stage, stage::unassigned);
}

}  // namespace
}  // namespace herald::test
