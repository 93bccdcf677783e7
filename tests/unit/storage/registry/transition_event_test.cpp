// Protects that approvers are told (wire.md §7 "Events"): each step of a transition is one TRANSITION event,
// and nothing else is.
#include <gmock/gmock.h>

#include "schemas/json.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

class transition_events : public stage_rules {
  protected:
    void SetUp() override {
        schemas::commands::create_webhook command;
        command.settings.name = "chat";
        command.settings.location = "https://chat.example";
        command.settings.all_events = true;
        registry.must<schemas::webhook>(command);
    }
    std::vector<schemas::event> all() {
        std::vector<schemas::event> found;
        for (schemas::event& each : registry.outbox())
            if (each.type == schemas::event_type::transition) found.push_back(std::move(each));
        std::ranges::sort(found, {}, &schemas::event::resource_sequence);
        return found;
    }
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const schemas::event& each : all())
            found.push_back(*schemas::parse_json(each.body)->find("action")->get_if<std::string>());
        return found;
    }
};

TEST_F(transition_events, say_who_asked_for_what_and_who_did_each_step) {
    const activity_id asked{transition_to(stage::production)};
    review(other, asked, true);
    const auto told = all();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].resource_id, std::to_string(version.id.value));
    EXPECT_EQ(told[0].resource_type, schemas::resource_type::registered_model_version);
    const std::string body =
        R"({"id":")" + told[1].id +
        R"(","timestamp":"2023-11-14T22:13:20.000Z","event_type":"TRANSITION",)"
        R"("resource_type":"REGISTERED_MODEL_VERSION","workspaceID":1,"action":"approved",)"
        R"("transition":{"id":)" +
        std::to_string(asked.value) +
        R"(,"source_stage":"UNASSIGNED","desired_stage":"PRODUCTION","state":"APPROVED",)"
        R"("comment":"seen"},"model":{"id":1,"name":"m"},"version":{"id":1,"name":"v1"},)"
        R"("by":{"id":)" +
        std::to_string(other.value) +
        R"(,"name":"second@example.org","email":"second@example.org"},)"
        R"("requested_by":{"id":1,"name":")" +
        std::string(admin_email) + R"(","email":")" + std::string(admin_email) + R"("}})";
    EXPECT_EQ(told[1].body, body);
}

TEST_F(transition_events, are_one_for_each_step) {
    const activity_id first = transition_to(stage::production);
    review(other, first, false);
    registry.run(schemas::commands::close_transition{first, "no"});
    registry.run(schemas::commands::close_transition{first, "no"});  // again: not a step
    const activity_id second = transition_to(stage::production);
    review(other, second, true);
    commit(second);
    EXPECT_THAT(actions(), testing::ElementsAre("requested", "rejected", "closed", "requested", "approved",
                                                "committed"));
}

TEST_F(transition_events, of_an_approval_that_commits_are_two) {
    schemas::workspace_policies policies;
    policies.commit_on_approve = true;
    ASSERT_EQ(set(policies).code, 0u);
    review(other, transition_to(stage::production), true);
    EXPECT_EQ(stored().stage, stage::production);
    EXPECT_THAT(actions(), testing::ElementsAre("requested", "approved", "committed"));
    EXPECT_THAT(all().back().body, testing::HasSubstr(R"("by":{"id":1,)")) << "in the name of who asked";
}

TEST_F(transition_events, are_not_sent_for_changes_without_a_transition_nor_for_refused_steps) {
    ASSERT_EQ(update(stage::staging).code, 0u);
    ask_for(stage::staging);  // it is there already
    const std::size_t before = all().size();
    EXPECT_EQ(before, 0u);
    const activity_id asked = transition_to(stage::production);
    EXPECT_NE(commit(asked).code, 0u);
    EXPECT_THAT(actions(), testing::ElementsAre("requested"));
}

}  // namespace
}  // namespace herald::test
