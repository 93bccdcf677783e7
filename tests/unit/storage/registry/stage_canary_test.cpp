// Protects canaries: a new build gets its share in steps, each judged by the rules and by what every node has
// counted; one that breaks a rule leaves the old build as it was (design.md §4).
#include <gmock/gmock.h>

#include "schemas/limits.hpp"
#include "storage/registry/rules/limits.hpp"
#include "tests/unit/storage/registry/deployed.hpp"

namespace herald::test {
namespace {

using testing::HasSubstr;

class canaries : public deployed {
  protected:
    schemas::build old = made(), fresh = made();
    schemas::update_id update;

    void SetUp() override { serve(old.id); }
    void begin(const schemas::commands::update_endpoint_stage& command) {
        update = begun(command).update_id;
        ready(update, "a");
    }
    schemas::component_counts counts(std::uint64_t requests, std::uint64_t errors_5xx = 0,
                                     std::uint64_t us = 1'000) {
        schemas::component_counts made;
        made.requests = requests;
        made.errors_5xx = errors_5xx;
        made.latency_us_sum = requests * us;
        if (requests > 0) made.latencies = {{30, requests}};
        return made;
    }
    void count(const schemas::component_counts& made, std::uint32_t interval, const std::string& node = "a") {
        schemas::commands::report_canary command;
        command.update_id = update;
        command.interval = interval;
        command.node = node;
        command.boot[0] = 1;
        command.counts = made;
        run(command);
    }
};

TEST_F(canaries, get_their_share_in_steps_and_then_all) {
    begin(canary_to(fresh.id, "0.4"));
    EXPECT_EQ(components(), text(old.id, 600'000, "active") + ", " + text(fresh.id, 400'000, "active"));
    EXPECT_EQ(stage_now().status, stage_status::updating);
    pass(10, {"a"});
    count(counts(20), 1);
    EXPECT_EQ(components(), text(old.id, 200'000, "active") + ", " + text(fresh.id, 800'000, "active"));
    pass(10, {"a"});
    count(counts(20, 2), 2);
    EXPECT_EQ(components(), text(fresh.id, 1'000'000, "active"));
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(canaries, that_break_a_rule_are_rolled_back_saying_which) {
    begin(canary_to(fresh.id));
    pass(10, {"a"});
    count(counts(20, 3), 1);
    EXPECT_EQ(components(), text(old.id, 1'000'000, "active") + ", " + text(fresh.id, 0, "error"));
    EXPECT_THAT(stage_now().components[1].message, HasSubstr("1008"));
    EXPECT_THAT(stage_now().components[1].message, HasSubstr("0.15"));
}

TEST_F(canaries, whose_step_is_all_are_judged_too_with_the_old_build_kept) {
    begin(canary_to(fresh.id, "1"));
    EXPECT_EQ(components(), text(old.id, 0, "active") + ", " + text(fresh.id, 1'000'000, "active"));
    EXPECT_EQ(stage_now().status, stage_status::updating);
    pass(10, {"a"});
    count(counts(20, 3), 1);
    EXPECT_EQ(components(), text(old.id, 1'000'000, "active") + ", " + text(fresh.id, 0, "error"));
    EXPECT_EQ(stage_now().status, stage_status::error);
    begin(canary_to(fresh.id, "1"));
    pass(10, {"a"});
    count(counts(20), 1);
    EXPECT_EQ(components(), text(fresh.id, 1'000'000, "active"));
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(canaries, whose_step_is_all_give_way_to_another_update_with_the_old_build_kept) {
    const auto third = made();
    begin(canary_to(fresh.id, "1"));
    begun(update_to(third.id));
    EXPECT_EQ(components(), text(old.id, 1'000'000, "active") + ", " + text(third.id, 0, "creating"));
}

TEST_F(canaries, are_judged_by_the_counts_of_all_nodes) {
    beat("b");
    update = begun(canary_to(fresh.id)).update_id;
    ready(update, "a");
    ready(update, "b");
    pass(10, {"a", "b"});
    count(counts(15), 1);
    EXPECT_THAT(components(), HasSubstr("400000")) << "b is waited for";
    count(counts(15), 1);
    count(counts(15, 0), 1, "b");
    EXPECT_THAT(components(), HasSubstr("800000"));
    pass(10, {"a", "b"});
    count(counts(15, 4), 2);
    count(counts(15), 2, "b");
    EXPECT_EQ(stage_now().status, stage_status::error) << "4 of 30";
}

TEST_F(canaries, do_not_wait_long_for_a_node_that_says_nothing) {
    beat("b");
    update = begun(canary_to(fresh.id)).update_id;
    ready(update, "a");
    ready(update, "b");
    pass(10, {"a", "b"});
    count(counts(25), 1);
    pass(4, {"a", "b"});
    EXPECT_THAT(components(), HasSubstr("400000"));
    pass(2, {"a", "b"});
    EXPECT_THAT(components(), HasSubstr("800000"));
}

TEST_F(canaries, hold_with_few_requests_and_are_rolled_back_after_ten_such_intervals) {
    begin(canary_to(fresh.id));
    for (std::uint32_t interval = 1; interval <= 9; ++interval) {
        pass(10, {"a"});
        count(counts(19), interval);
        EXPECT_THAT(components(), HasSubstr("400000"));
    }
    pass(10, {"a"});
    count(counts(19), 10);
    EXPECT_EQ(stage_now().status, stage_status::error);
    EXPECT_THAT(stage_now().components[1].message, HasSubstr("fewer than 20"));
}

TEST_F(canaries, count_no_interval_twice_and_none_that_is_over) {
    begin(canary_to(fresh.id));
    count(counts(15), 1);
    count(counts(15), 1);
    count(counts(15), 2);
    EXPECT_EQ(running()->counts.requests, 15u);
}

TEST_F(canaries, take_over_at_once_when_the_old_build_is_reported_unsafe) {
    begin(canary_to(fresh.id));
    report(old.id, schemas::safety_status::unsafe);
    EXPECT_EQ(components(), text(fresh.id, 1'000'000, "active"));
    EXPECT_EQ(stage_now().status, stage_status::active);
    EXPECT_FALSE(running());
}

TEST_F(canaries, beside_an_unsafe_build_serve_at_once) {
    report(old.id, schemas::safety_status::unsafe);
    begin(canary_to(fresh.id));
    EXPECT_EQ(components(), text(fresh.id, 1'000'000, "active"));
}

TEST_F(canaries, without_an_old_build_serve_at_once) {
    const auto other = endpoint_at("/other");
    auto command = canary_to(fresh.id);
    command.endpoint_id = other.id;
    command.stage_id = stage_of(other, "production").id;
    const auto begun_there = begun(command);
    ready(begun_there.update_id, "a");
    const auto after = *storage::registry::tables::endpoint_stages::find(*registry.view(), begun_there.id);
    EXPECT_EQ(after.status, stage_status::active);
}

}  // namespace
}  // namespace herald::test
