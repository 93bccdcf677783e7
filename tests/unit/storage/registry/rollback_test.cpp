// Protects the way back: a stage knows the build that served before, returns to it as it was served then, and
// its log says who asked.
#include <gmock/gmock.h>

#include <map>

#include "tests/unit/storage/registry/deployed.hpp"

namespace herald::test {
namespace {

using testing::HasSubstr;

class rollbacks : public deployed {
  protected:
    schemas::commands::roll_back_endpoint_stage back() { return {endpoint.id, "default", stage.id}; }
    std::uint64_t previous() {
        const auto found = previous_of(stage_now());
        return found ? found->build_id.value : 0;
    }
    void roll_back() {
        const auto begun = registry.must<schemas::endpoint_stage>(back());
        ready(begun.update_id, "a");
        EXPECT_EQ(stage_now().status, stage_status::active);
    }
    std::vector<schemas::stage_log_entry> log() {
        std::vector<schemas::stage_log_entry> all;
        storage::registry::tables::stage_log::each(*registry.view(), stage.id, 0, [&](const auto& entry) {
            all.push_back(entry);
            return true;
        });
        return all;
    }
};

TEST_F(rollbacks, lead_to_the_build_that_served_before_and_from_there_back_again) {
    const auto first = made(), second = made();
    EXPECT_EQ(previous(), 0u);
    serve(first.id);
    EXPECT_EQ(previous(), 0u) << "nothing served before it";
    EXPECT_EQ(code_of(registry.run(back())), error_code::failed_precondition);
    serve(second.id);
    EXPECT_EQ(previous(), first.id.value);
    roll_back();
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active"));
    EXPECT_EQ(previous(), second.id.value);
    roll_back();
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"));
}

TEST_F(rollbacks, bring_back_the_settings_and_a_body_that_says_so) {
    const auto first = made(), second = made();
    auto limited = update_to(first.id);
    limited.limits.in_flight_max = 7;
    limited.batching.size_max = 4;
    beat("a");
    ready(begun(limited).update_id, "a");
    serve(second.id);
    roll_back();
    EXPECT_EQ(stage_now().components.front().limits.in_flight_max, 7u);
    EXPECT_EQ(stage_now().components.front().batching.size_max, 4u);
    EXPECT_THAT(stage_now().update_request.text,
                HasSubstr("{\"build_id\":" + std::to_string(first.id.value) + ",\"strategy\":\"rollout\""));
}

TEST_F(rollbacks, of_an_update_that_runs_keep_the_build_that_serves) {
    const auto first = made(), second = made(), third = made();
    serve(first.id);
    serve(second.id);
    const auto trial = begun(canary_to(third.id));
    ready(trial.update_id, "a");
    EXPECT_EQ(previous(), second.id.value) << "it serves beside the new one";
    roll_back();
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"));
    EXPECT_EQ(previous(), first.id.value) << "third never served alone";
}

TEST_F(rollbacks, that_come_twice_go_back_once) {
    const auto first = made(), second = made();
    serve(first.id);
    serve(second.id);
    registry.must<schemas::endpoint_stage>(back());
    EXPECT_EQ(previous(), first.id.value) << "while it goes back";
    roll_back();
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active"));
    EXPECT_EQ(previous(), second.id.value);
}

TEST_F(rollbacks, of_a_failed_update_are_done_already_and_previous_stays) {
    const auto first = made(), second = made(), third = made();
    serve(first.id);
    serve(second.id);
    ready(begun(update_to(third.id)).update_id, "a", "does not load");
    EXPECT_EQ(stage_now().status, stage_status::error);
    EXPECT_EQ(previous(), first.id.value);
    auto again = update_to(second.id);
    again.limits.in_flight_max = 9;
    ready(begun(again).update_id, "a");
    EXPECT_EQ(previous(), first.id.value) << "the same build with other settings";
}

TEST_F(rollbacks, to_a_build_that_is_gone_or_by_somebody_without_the_right_are_refused) {
    const auto other = version_with_model("another model's bytes");
    const auto first = made(other.id), second = made();
    serve(first.id);
    serve(second.id);
    const auto reader = registry.user_named("reader@example.org");
    EXPECT_EQ(code_of(registry.run_as(reader.id, back())), error_code::not_found);
    schemas::commands::delete_version removal;
    removal.id = other.id;
    ASSERT_EQ(registry.run(removal).code, 0u) << "what served before holds no version";
    for (int i = 0; i < 3; ++i) registry.run(schemas::commands::no_operation{});
    const auto refused = registry.run(back());
    EXPECT_EQ(code_of(refused), error_code::not_found);
    EXPECT_THAT(refused.message, HasSubstr("build " + std::to_string(first.id.value) + " not found"));
}

TEST_F(rollbacks, and_updates_name_their_author_in_the_log) {
    const auto first = made(), second = made();
    serve(first.id);
    serve(second.id);
    roll_back();
    std::map<std::string, std::uint64_t> authors;
    for (const auto& entry : log()) authors[entry.message] = entry.author_id.value;
    const std::string build = "build " + std::to_string(first.id.value);
    EXPECT_EQ(authors["the stage was created"], registry.admin.value);
    EXPECT_EQ(authors["an update to " + build + " is asked for, by rollout"], registry.admin.value);
}

}  // namespace
}  // namespace herald::test
