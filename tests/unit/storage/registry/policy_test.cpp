// Protects the policies of a workspace: its admins set them, whole and within bounds.
#include <gmock/gmock.h>

#include "storage/registry/rules/limits.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using policies = stage_rules;

TEST_F(policies, are_set_by_admins_of_the_workspace_alone) {
    const user_id editor = member("editor@example.org", {schemas::action::read, schemas::action::update});
    const user_id stranger = registry.user_named("stranger@example.org").id;
    const schemas::commands::set_policies command{"default", {}, false};
    EXPECT_EQ(code_of(registry.run_as(editor, command)), error_code::permission_denied);
    EXPECT_EQ(code_of(registry.run_as(stranger, command)), error_code::not_found);
    EXPECT_EQ(registry.run_as(other, command).code, 0u);
}

TEST_F(policies, are_replaced_as_a_whole_and_hold_each_stage_once) {
    schemas::workspace_policies all;
    all.require_approval_for = {stage::staging, stage::production, stage::staging};
    all.approvals_required = 3;
    all.require_safe_scan_for = {stage::production};
    all.commit_on_approve = true;
    all.scan_by_others = true;
    all.promotion_deadline_seconds = 7;
    schemas::workspace_policies kept = *schemas::decode<schemas::workspace_policies>(set(all).body);
    EXPECT_THAT(kept.require_approval_for, ElementsAre(stage::staging, stage::production));
    EXPECT_TRUE(kept.commit_on_approve);
    kept = *schemas::decode<schemas::workspace_policies>(
        registry.run(schemas::commands::set_policies{"default", {}, true}).body);
    EXPECT_THAT(kept.require_approval_for, ElementsAre(stage::production)) << "the installation's";
    EXPECT_EQ(kept.approvals_required, 1u);
    EXPECT_THAT(kept.require_safe_scan_for, IsEmpty());
    EXPECT_FALSE(kept.commit_on_approve);
    EXPECT_EQ(kept.promotion_deadline_seconds, 0u);
    EXPECT_EQ(schemas::encode(workspaces::find(*registry.view(), schemas::workspace_id{1})->policies),
              schemas::encode(kept));
}

TEST_F(policies, are_bounded) {
    schemas::workspace_policies wrong;
    for (const std::uint32_t number : {0u, limits::approvals_required_max + 1}) {
        wrong.approvals_required = number;
        EXPECT_EQ(code_of(set(wrong)), error_code::invalid_argument) << number;
    }
    wrong = {};
    wrong.promotion_deadline_seconds = limits::promotion_deadline_seconds_max + 1;
    EXPECT_EQ(code_of(set(wrong)), error_code::invalid_argument);
    wrong = {};
    wrong.require_safe_scan_for = {stage::unknown};
    EXPECT_EQ(code_of(set(wrong)), error_code::invalid_argument);
    wrong = {};
    wrong.approvals_required = limits::approvals_required_max;
    wrong.promotion_deadline_seconds = limits::promotion_deadline_seconds_max;
    EXPECT_EQ(set(wrong).code, 0u);
}

TEST_F(policies, that_nobody_could_satisfy_in_ones_own_workspace_are_to_be_taken_back) {
    const auto user = registry.user_named("b@example.org");
    version = registry.own_version_of(user);
    schemas::commands::set_policies command{"b@example.org", {}, false};
    command.policies.require_approval_for = {stage::production};
    ASSERT_EQ(registry.run_as(user.id, command).code, 0u);
    const auto asked = ask_for(stage::production, user.id);
    EXPECT_EQ(code_of(asked), error_code::failed_precondition);
    EXPECT_THAT(asked.message, HasSubstr("nobody else can approve there; the policy must be taken back"));
    const auto direct = update(stage::production, user.id);
    EXPECT_EQ(code_of(direct), error_code::permission_denied);
    EXPECT_THAT(direct.message, HasSubstr("the policy must be taken back"));
    EXPECT_EQ(ask_for(stage::staging, user.id).code, 0u) << "which needs no approval";
    command.takes_default_approvals = true;
    ASSERT_EQ(registry.run_as(user.id, command).code, 0u);
    EXPECT_EQ(update(stage::production, user.id).code, 0u);
}

TEST_F(stage_rules, policies_that_stay_as_they_are_do_not_change_the_workspace) {
    const auto updated = [&] { return workspaces::find(*registry.view(), {1})->time_updated; };
    schemas::workspace_policies policies;
    policies.approvals_required = 2;
    EXPECT_EQ(set(policies).code, 0u);
    const auto before = updated();
    EXPECT_EQ(set(policies).code, 0u);
    EXPECT_EQ(updated(), before);
}

}  // namespace
}  // namespace herald::test
