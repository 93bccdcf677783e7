// Protects the deadline of promotions: what nothing completes in time has failed, never early and nothing
// else.
#include <gmock/gmock.h>

#include "storage/registry/tables/timers.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;

using schemas::promotion_status;
using testing::HasSubstr;

class promotion_deadlines : public stage_rules {
  protected:
    void SetUp() override { within(60); }
    void within(std::uint32_t seconds) {
        schemas::workspace_policies policies;
        policies.promotion_deadline_seconds = seconds;
        ASSERT_EQ(set(policies).code, 0u);
    }
    void promote() { ASSERT_EQ(commit(transition_to(stage::production)).code, 0u); }
    void wait(std::int64_t ms) {
        registry.now_ms += ms;
        ASSERT_EQ(registry.run(schemas::commands::no_operation{}).code, 0u);
    }
    schemas::commands::outcome complete() {
        schemas::commands::update_version command;
        command.id = version.id;
        command.present = {"redirect_metadata"};
        command.redirect_metadata = "https://example.org";
        return registry.run(command);
    }
};

TEST_F(promotion_deadlines, end_what_is_not_complete_as_failed_and_never_early) {
    promote();
    wait(59'000);
    EXPECT_EQ(promotion().status, promotion_status::in_progress);
    wait(2'000);
    EXPECT_EQ(promotion().status, promotion_status::failed);
    EXPECT_THAT(promotion().reason, HasSubstr("within 60 s"));
    EXPECT_GE(promotion().time_completed, promotion().time_committed + 60'000);
    EXPECT_EQ(stored().stage, stage::production);
    EXPECT_EQ(code_of(complete()), error_code::failed_precondition);
}

TEST_F(promotion_deadlines, change_nothing_that_has_ended) {
    promote();
    ASSERT_EQ(complete().code, 0u);
    wait(61'000);
    EXPECT_EQ(promotion().status, promotion_status::complete);
}

TEST_F(promotion_deadlines, are_of_one_promotion_and_not_of_the_next) {
    promote();
    wait(30'000);
    ASSERT_EQ(update(stage::staging).code, 0u);
    promote();
    wait(31'000);
    EXPECT_EQ(promotion().status, promotion_status::in_progress);
    wait(30'000);
    EXPECT_EQ(promotion().status, promotion_status::failed);
}

TEST_F(promotion_deadlines, are_off_unless_set_and_those_of_the_commit) {
    promote();
    within(0);
    wait(61'000);
    EXPECT_EQ(promotion().status, promotion_status::failed) << "the policy of the commit";
    ASSERT_EQ(update(stage::staging).code, 0u);
    promote();
    wait(400ll * 24 * 3'600'000);
    EXPECT_EQ(promotion().status, promotion_status::in_progress);
}

TEST_F(stage_rules, a_promotion_that_has_ended_has_no_deadline_left) {
    const auto deadlines = [&] {
        std::size_t count = 0;
        timers::each(*registry.view(), [&](const timer& each) {
            count += each.kind == timer_kind::promotion_deadline;
            return true;
        });
        return count;
    };
    schemas::workspace_policies policies;
    policies.promotion_deadline_seconds = 3'600;
    EXPECT_EQ(set(policies).code, 0u);
    const auto promote = [&] { EXPECT_EQ(commit(transition_to(stage::production)).code, 0u); };
    promote();
    EXPECT_EQ(deadlines(), 1u);
    EXPECT_EQ(registry.run(schemas::commands::fail_promotion{version.id, "no"}).code, 0u);
    EXPECT_EQ(deadlines(), 0u);
    EXPECT_EQ(update(stage::staging).code, 0u);
    promote();
    EXPECT_EQ(deadlines(), 1u);
    EXPECT_EQ(update(stage::staging).code, 0u);
    EXPECT_EQ(deadlines(), 0u) << "it left PRODUCTION";
    promote();
    schemas::commands::update_version done;
    done.id = version.id;
    done.mode = schemas::commands::update_mode::merge;
    done.present = {"redirect_metadata"};
    done.redirect_metadata = "https://example.org/served";
    EXPECT_EQ(registry.run(done).code, 0u);
    EXPECT_EQ(promotion().status, promotion_status::complete);
    EXPECT_EQ(deadlines(), 0u);
}

}  // namespace
}  // namespace herald::test
