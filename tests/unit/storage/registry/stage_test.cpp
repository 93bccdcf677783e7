// Protects the governance of stages: no version enters a stage without what the policies of that moment
// demand.
#include <gmock/gmock.h>

#include "schemas/limits.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

using schemas::promotion_status;
using testing::HasSubstr;

constexpr std::array all_stages{schemas::stage::development, schemas::stage::staging,
                                schemas::stage::production, schemas::stage::archived,
                                schemas::stage::unassigned};

using stages = stage_rules;

TEST_F(stages, any_stage_may_follow_any_other_and_unknown_none) {
    ASSERT_EQ(set({}).code, 0u);
    for (const stage from : all_stages)
        for (const stage to : all_stages) {
            ASSERT_EQ(update(from).code, 0u);
            ASSERT_EQ(update(to).code, 0u) << name_of(from) << " to " << name_of(to);
            EXPECT_EQ(stored().stage, to);
        }
    const auto refused = update(stage::unknown);
    EXPECT_EQ(code_of(refused), error_code::invalid_argument);
    EXPECT_THAT(refused.message, HasSubstr("DEVELOPMENT STAGING PRODUCTION ARCHIVED UNASSIGNED"));
}

TEST_F(stages, a_change_without_a_transition_tells_of_the_update_and_begins_no_promotion) {
    registry.webhook_for({schemas::event_type::promote, schemas::event_type::update});
    ASSERT_EQ(set({}).code, 0u);
    const auto made = schemas::decode<activity>(update(stage::production).body);
    ASSERT_TRUE(made && made->update);
    EXPECT_EQ(made->update->stage, stage::production);
    EXPECT_EQ(made->comment, "why");
    EXPECT_EQ(promotion().status, promotion_status::none);
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].type, schemas::event_type::update);
    EXPECT_THAT(events[0].body, HasSubstr("\"stage\":\"UNASSIGNED\""));
    EXPECT_THAT(events[0].body, HasSubstr("\"stage\":\"PRODUCTION\""));
}

TEST_F(stages, to_the_same_stage_only_the_entry_is_made_whatever_the_policies) {
    registry.webhook_for({schemas::event_type::update});
    schemas::workspace_policies strict;
    strict.require_approval_for = strict.require_safe_scan_for = {stage::unassigned};
    ASSERT_EQ(set(strict).code, 0u);
    const schemas::model_version before = stored();
    const auto made = schemas::decode<activity>(update(stage::unassigned).body);
    ASSERT_TRUE(made && made->update);
    EXPECT_EQ(schemas::encode(stored()), schemas::encode(before));
    EXPECT_TRUE(registry.outbox().empty());
}

TEST_F(stages, that_need_approval_are_entered_by_a_transition_alone) {
    const auto refused = update(stage::production);
    EXPECT_EQ(code_of(refused), error_code::permission_denied);
    EXPECT_THAT(refused.message, HasSubstr("needs a transition that is approved"));
    EXPECT_EQ(stored().stage, stage::unassigned);
    EXPECT_EQ(update(stage::staging).code, 0u);
}

TEST_F(stages, that_need_a_safe_scan_are_entered_with_one_alone) {
    schemas::workspace_policies policies;
    policies.require_safe_scan_for = {stage::staging};
    ASSERT_EQ(set(policies).code, 0u);
    schemas::commands::create_build command;
    command.workspace_name = "default";
    command.model_version_id = version.id;
    command.external_location = "x";
    const auto build = registry.must<schemas::build>(command);
    const auto refused = update(stage::staging);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("require_safe_scan_for"));
    registry.run(schemas::commands::request_scan{"default", build.id, {}});
    EXPECT_EQ(code_of(update(stage::staging)), error_code::failed_precondition) << "while it is scanned";
    const auto report = [&](schemas::safety_status safety) {
        return registry
            .run(schemas::commands::report_scan{"default", build.id, schemas::scan_status::scanned, safety,
                                                ""})
            .code;
    };
    EXPECT_EQ(report(schemas::safety_status::safe), 0u);
    EXPECT_EQ(update(stage::staging).code, 0u);
    EXPECT_EQ(update(stage::archived).code, 0u);
    EXPECT_EQ(report(schemas::safety_status::unsafe), 0u);
    EXPECT_EQ(code_of(update(stage::staging)), error_code::failed_precondition);
}

TEST_F(stages, open_transitions_stay_when_the_stage_changes_and_fail_by_their_source) {
    const auto transition = transition_to(stage::production);
    review(other, transition, true);
    ASSERT_EQ(update(stage::staging).code, 0u);
    EXPECT_EQ(code_of(commit(transition)), error_code::aborted);
    ASSERT_EQ(update(stage::unassigned).code, 0u);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(stages, leaving_production_without_a_transition_ends_a_promotion_as_failed) {
    const auto transition = transition_to(stage::production);
    review(other, transition, true);
    ASSERT_EQ(commit(transition).code, 0u);
    ASSERT_EQ(update(stage::archived).code, 0u);
    EXPECT_EQ(promotion().status, promotion_status::failed);
    EXPECT_THAT(promotion().reason, HasSubstr("from PRODUCTION to ARCHIVED"));
}

TEST_F(stages, a_comment_is_an_entry_that_holds_nothing_else) {
    const auto made = registry.must<activity>(schemas::commands::create_comment{version.id, "well"});
    EXPECT_EQ(made.comment, "well");
    EXPECT_FALSE(made.transition || made.approval || made.rejection || made.close || made.update);
    EXPECT_EQ(code_of(registry.run(schemas::commands::create_comment{version.id, ""})),
              error_code::invalid_argument);
}

TEST_F(stage_rules, a_comment_that_is_wrong_is_refused_before_the_state_of_the_transition) {
    const auto closed = transition_to(stage::staging);
    EXPECT_EQ(registry.run(schemas::commands::close_transition{closed, ""}).code, 0u);
    const std::string long_one(limits::comment_bytes_max + 1, 'x');
    for (const bool approve : {true, false})
        EXPECT_EQ(
            code_of(registry.run_as(other, schemas::commands::review_transition{closed, approve, long_one})),
            error_code::invalid_argument);
    const auto committed = transition_to(stage::development);
    EXPECT_EQ(commit(committed).code, 0u);
    EXPECT_EQ(code_of(registry.run(schemas::commands::close_transition{committed, long_one})),
              error_code::invalid_argument);
    EXPECT_EQ(code_of(registry.run(schemas::commands::close_transition{committed, ""})),
              error_code::failed_precondition);
}

}  // namespace
}  // namespace herald::test
