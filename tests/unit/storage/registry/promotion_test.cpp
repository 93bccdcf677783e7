// Protects P2: a promotion needs somebody else's approval, and each commit to PRODUCTION gives exactly one
// PROMOTE.
#include <gmock/gmock.h>

#include "schemas/json.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::tables;

using schemas::stage;
using schemas::transition_state;
using testing::HasSubstr;

class promotion_rules : public testing::Test {
  protected:
    registry registry;
    schemas::user_id other = registry.second_admin();
    schemas::webhook hook = registry.webhook_for({schemas::event_type::promote});
    schemas::model_version version = registry.version_named("v1", registry.model_named("m").id);

    schemas::activity_id transition_to(stage desired) {
        schemas::commands::create_transition command;
        command.model_version_id = version.id;
        command.desired_stage = desired;
        return registry.must<schemas::activity>(command).id;
    }
    schemas::commands::outcome review(schemas::user_id user, schemas::activity_id transition, bool approve) {
        schemas::commands::review_transition command;
        command.transition_id = transition;
        command.approve = approve;
        return registry.run_as(user, command);
    }
    schemas::commands::outcome commit(schemas::activity_id transition) {
        schemas::commands::commit_transition command;
        command.transition_id = transition;
        return registry.run(command);
    }
    /// To a stage that needs no approval.
    void move_to(stage desired) { EXPECT_EQ(commit(transition_to(desired)).code, 0u); }
    schemas::commands::outcome ask_for(stage desired) {
        schemas::commands::create_transition command;
        command.model_version_id = version.id;
        command.desired_stage = desired;
        return registry.run(command);
    }
    void close(schemas::activity_id transition) {
        schemas::commands::close_transition command;
        command.transition_id = transition;
        EXPECT_EQ(registry.run(command).code, 0u);
    }
    void promote() {
        const auto transition = transition_to(stage::production);
        EXPECT_EQ(review(other, transition, true).code, 0u);
        EXPECT_EQ(commit(transition).code, 0u);
    }
    schemas::model_version stored() {
        return *find_row<schemas::model_version>(*registry.view(), key_of(table::version).number(version.id));
    }
    schemas::promotion promotion() {
        return *find_row<schemas::promotion>(*registry.view(), key_of(table::promotion).number(version.id));
    }
    schemas::commands::outcome update(
        const schemas::version_content& body, std::vector<std::string> present,
        schemas::commands::update_mode mode = schemas::commands::update_mode::merge,
        const std::string& url = {}, std::int64_t time_updated = 0) {
        schemas::commands::update_version command;
        command.id = version.id;
        command.redirect_metadata = url;
        command.time_updated = time_updated;
        command.mode = mode;
        command.present = std::move(present);
        command.version = body;
        return registry.run(command);
    }
    schemas::commands::outcome complete_with(const std::string& url, std::int64_t time_updated = 0) {
        return update({}, {"redirect_metadata"}, schemas::commands::update_mode::merge, url, time_updated);
    }
};

TEST_F(promotion_rules, the_author_cannot_approve) {
    const auto transition = transition_to(stage::production);
    const auto outcome = review(registry.admin, transition, true);
    EXPECT_EQ(code_of(outcome), error_code::permission_denied);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition);
}

TEST_F(promotion_rules, a_commit_to_production_makes_one_promote_event_with_the_eleven_fields) {
    promote();
    EXPECT_EQ(stored().stage, stage::production);
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].type, schemas::event_type::promote);
    EXPECT_EQ(events[0].id, promotion().event_id);
    EXPECT_EQ(events[0].audience, (std::vector<schemas::audience_member>{{hook.id, false, hook.revision}}));
    const auto body = schemas::parse_json(events[0].body);
    ASSERT_TRUE(body);
    std::vector<std::string> names;
    for (const auto& [name, value] : *body->get_if<schemas::json_object>()) names.push_back(name);
    EXPECT_THAT(names, testing::UnorderedElementsAre("id", "registered_model_id", "version", "time_created",
                                                     "time_updated", "readme_text", "owner", "attributes",
                                                     "stage", "lock_level", "version_number"));
    EXPECT_EQ(*body->find("stage"), schemas::json_value("PRODUCTION"));
}

TEST_F(promotion_rules, a_committed_transition_cannot_be_committed_again) {
    const auto transition = transition_to(stage::production);
    review(other, transition, true);
    EXPECT_EQ(commit(transition).code, 0u);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition);
    EXPECT_EQ(registry.outbox().size(), 1u);
}

TEST_F(promotion_rules, a_commit_fails_when_the_stage_changed_meanwhile) {
    const auto first = transition_to(stage::production);
    const auto second = transition_to(stage::staging);
    review(other, first, true);
    review(other, second, true);
    EXPECT_EQ(commit(second).code, 0u);
    EXPECT_EQ(code_of(commit(first)), error_code::aborted);
}

TEST_F(promotion_rules, a_stage_that_needs_no_approval_is_committed_without_one) {
    EXPECT_EQ(commit(transition_to(stage::staging)).code, 0u);
    EXPECT_EQ(stored().stage, stage::staging);
    const schemas::commands::outcome refused = commit(transition_to(stage::production));
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message,
                HasSubstr("require_approval_for of the workspace \"default\" holds PRODUCTION"));
    const auto rejected = transition_to(stage::development);
    review(other, rejected, false);
    EXPECT_EQ(code_of(commit(rejected)), error_code::failed_precondition)
        << "a rejection counts all the same";
}

TEST_F(promotion_rules, the_policy_of_the_commit_decides_not_that_of_the_review) {
    auto workspace = *find_row<schemas::workspace>(*registry.view(), key_of(table::workspace).number(1));
    const auto demand = [&](std::vector<stage> stages, std::uint32_t approvals) {
        workspace.policies.require_approval_for = std::move(stages);
        workspace.policies.approvals_required = approvals;
        registry.put(key_of(table::workspace).number(1), workspace);
    };
    const auto transition = transition_to(stage::production);
    EXPECT_EQ(review(other, transition, true).code, 0u);
    demand({stage::production}, 2);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition)
        << "one approval was enough before";
    demand({}, 2);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(promotion_rules, in_ones_own_workspace_nobody_need_approve) {
    const auto user = registry.user_named("b@example.org");
    schemas::commands::create_transition ask;
    ask.model_version_id = registry.own_version_of(user).id;
    ask.desired_stage = stage::production;
    schemas::commands::commit_transition commit;
    commit.transition_id = registry.must<schemas::activity>(user.id, ask).id;
    EXPECT_EQ(registry.run_as(user.id, commit).code, 0u);
}

TEST_F(promotion_rules, only_a_users_last_word_counts) {
    const auto transition = transition_to(stage::production);
    review(other, transition, false);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition);
    review(other, transition, true);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(promotion_rules, a_closed_transition_takes_no_approval) {
    const auto transition = transition_to(stage::production);
    close(transition);
    EXPECT_EQ(code_of(review(other, transition, true)), error_code::failed_precondition);
}

TEST_F(promotion_rules, to_the_same_stage_leaves_an_activity_and_nothing_else) {
    schemas::commands::create_transition command;
    command.model_version_id = version.id;
    command.desired_stage = stage::unassigned;
    const auto activity = registry.must<schemas::activity>(command);
    EXPECT_EQ(activity.transition->state, transition_state::closed);
    EXPECT_EQ(stored().stage, stage::unassigned);
}

TEST_F(promotion_rules, redirect_metadata_completes_a_promotion_in_progress_and_changes_nothing_else) {
    promote();
    schemas::version_content body;
    body.description = "ignored";
    EXPECT_EQ(update(body, {"redirect_metadata", "description"}, schemas::commands::update_mode::replace,
                     "https://example.org/serving")
                  .code,
              0u);
    EXPECT_EQ(promotion().status, schemas::promotion_status::complete);
    EXPECT_EQ(stored().redirect_metadata, "https://example.org/serving");
    EXPECT_EQ(stored().description, "");
    EXPECT_EQ(stored().version, "v1");
    EXPECT_EQ(complete_with("https://example.org/serving").code, 0u) << "the same value again";
    EXPECT_EQ(code_of(complete_with("https://example.org/other")), error_code::failed_precondition);
}

TEST_F(promotion_rules, a_completion_sent_twice_clears_nothing) {
    schemas::version_content body;
    body.description = "kept";
    update(body, {"description"});
    promote();
    body = content_of(stored());
    const std::int64_t read_ms = stored().time_updated;
    body.description.clear();
    const std::vector<std::string> members{"id",           "registered_model_id", "version",
                                           "time_created", "time_updated",        "owner",
                                           "readme_text",  "attributes",          "stage",
                                           "lock_level",   "version_number",      "redirect_metadata"};
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(update(body, members, schemas::commands::update_mode::replace,
                         "https://example.org/serving", read_ms)
                      .code,
                  0u);
        EXPECT_EQ(stored().description, "kept");
    }
    body = content_of(stored());
    body.description = "new";
    EXPECT_EQ(update(body, members, schemas::commands::update_mode::replace, "https://example.org/serving",
                     stored().time_updated)
                  .code,
              0u);
    EXPECT_EQ(stored().description, "new") << "another body is an update";
}

TEST_F(promotion_rules, a_completion_of_one_member_sent_twice_clears_nothing) {
    schemas::version_content body;
    body.description = "kept";
    update(body, {"description"});
    promote();
    for (int time = 0; time < 2; ++time)
        EXPECT_EQ(update({}, {"redirect_metadata"}, schemas::commands::update_mode::replace,
                         "https://example.org/serving")
                      .code,
                  0u);
    EXPECT_EQ(stored().description, "kept");
}

TEST_F(promotion_rules, a_completion_sent_twice_is_known_by_its_fields_whatever_their_order_and_the_path) {
    schemas::version_content described;
    described.description = "kept";
    update(described, {"description"});
    promote();
    schemas::commands::update_version completion;
    completion.id = version.id;
    completion.mode = schemas::commands::update_mode::replace;
    completion.redirect_metadata = "https://example.org/serving";
    completion.version.readme_text = "r";
    completion.present = {"redirect_metadata", "readme_text", "unknown"};
    EXPECT_EQ(registry.run(completion).code, 0u);
    EXPECT_EQ(promotion().status, schemas::promotion_status::complete);
    completion.present = {"readme_text", "redirect_metadata"};
    EXPECT_EQ(registry.run(completion).code, 0u);
    EXPECT_EQ(stored().description, "kept");
    completion.id = {};
    completion.workspace_name = "default";
    completion.model_name = "m";
    completion.version_or_name = "v1";
    EXPECT_EQ(registry.run(completion).code, 0u);
    EXPECT_EQ(stored().description, "kept");
    completion.present.push_back("description");
    EXPECT_EQ(registry.run(completion).code, 0u);
    EXPECT_EQ(stored().description, "") << "a body with another field is an update";
}

TEST_F(promotion_rules, redirect_metadata_needs_a_promotion_and_a_url) {
    EXPECT_EQ(code_of(complete_with("https://example.org")), error_code::failed_precondition);
    promote();
    for (const char* bad : {"example.org", "ftp://example.org", "https://", "https:///x", "https://a b"})
        EXPECT_EQ(code_of(complete_with(bad)), error_code::invalid_argument) << bad;
    for (const char* bad : {"http://127.0.0.1:99999/", "https://example.org:65536", "https://example.org:0?a",
                            "https://[::1]:x", "https://example.org:-1#a", "http://me:1@example.org:70000"})
        EXPECT_THAT(complete_with(bad).message, HasSubstr("its port must be 1 to 65535")) << bad;
    for (const char* bad :
         {"http://:80/", "https://@/", "https://me@", "https://me@:8080/a", "https://[", "https://[::1",
          "https://[]/", "https://[example]", "https://[::1]x/", "https://a<b>/", "https://a\\b/"})
        EXPECT_THAT(complete_with(bad).message, HasSubstr("absolute http or https URL with a host")) << bad;
    for (const char* good : {"https://example.org:/", "https://[::1]",
                             "https://b\xc3\xbc"
                             "cher.example",
                             "https://[::1]:8443/:99999", "https://example.org/a:b",
                             "https://example.org?a=:b", "https://a:b@c"}) {
        EXPECT_EQ(complete_with(good).code, 0u) << good;
        move_to(stage::unassigned);
        promote();
    }
}

TEST_F(promotion_rules, a_completion_that_was_read_before_the_commit_is_refused) {
    promote();
    const std::int64_t first_ms = stored().time_updated;
    move_to(stage::unassigned);
    promote();
    const std::int64_t second_ms = stored().time_updated;
    for (const std::int64_t old_ms : {first_ms, second_ms - 1, std::int64_t{5}, std::int64_t{-1}}) {
        const auto refused = complete_with("https://example.org/old", old_ms);
        EXPECT_EQ(code_of(refused), error_code::aborted) << old_ms;
        EXPECT_THAT(refused.message, HasSubstr("time_updated is " + std::to_string(old_ms)));
        EXPECT_THAT(refused.message, HasSubstr(std::to_string(second_ms)));
    }
    EXPECT_EQ(promotion().status, schemas::promotion_status::in_progress);
    EXPECT_EQ(stored().redirect_metadata, "");
    EXPECT_EQ(complete_with("https://example.org/new", second_ms).code, 0u);
    EXPECT_EQ(promotion().redirect_metadata, "https://example.org/new");
}

TEST_F(promotion_rules, a_completion_may_have_been_read_after_a_change_since_the_commit) {
    promote();
    schemas::version_content change;
    change.description = "described";
    EXPECT_EQ(update(change, {"description"}).code, 0u);
    EXPECT_EQ(complete_with("https://example.org/new", stored().time_updated).code, 0u);
    EXPECT_EQ(promotion().status, schemas::promotion_status::complete);
}

TEST_F(promotion_rules, the_completion_of_an_earlier_promotion_does_not_complete_the_next) {
    promote();
    const std::int64_t first_ms = stored().time_updated;
    EXPECT_EQ(complete_with("https://example.org/old", first_ms).code, 0u);
    move_to(stage::staging);
    EXPECT_EQ(promotion().status, schemas::promotion_status::complete);
    EXPECT_EQ(complete_with("https://example.org/old", first_ms).code, 0u) << "a repeat of what was done";
    promote();
    EXPECT_EQ(code_of(complete_with("https://example.org/old", first_ms)), error_code::aborted);
    EXPECT_EQ(promotion().status, schemas::promotion_status::in_progress);
}

TEST_F(promotion_rules, leaving_production_fails_a_promotion_in_progress_whatever_the_new_stage) {
    for (const stage next : {stage::development, stage::staging, stage::archived, stage::unassigned}) {
        promote();
        const std::int64_t promoted_ms = stored().time_updated;
        move_to(next);
        const schemas::promotion ended = promotion();
        EXPECT_EQ(ended.status, schemas::promotion_status::failed) << name_of(next);
        EXPECT_EQ(ended.time_completed, stored().time_updated);
        EXPECT_THAT(ended.reason, HasSubstr("from PRODUCTION to " + std::string(name_of(next))));
        EXPECT_EQ(code_of(complete_with("https://example.org", promoted_ms)),
                  error_code::failed_precondition);
        EXPECT_EQ(code_of(complete_with("https://example.org")), error_code::failed_precondition);
        EXPECT_EQ(stored().redirect_metadata, "");
    }
}

TEST_F(promotion_rules, leaving_production_changes_no_promotion_that_has_ended) {
    promote();
    schemas::commands::fail_promotion fail;
    fail.model_version_id = version.id;
    fail.reason = "did not start";
    EXPECT_EQ(registry.run(fail).code, 0u);
    move_to(stage::archived);
    EXPECT_EQ(promotion().reason, "did not start");
    promote();
    EXPECT_EQ(complete_with("https://example.org").code, 0u);
    move_to(stage::archived);
    EXPECT_EQ(promotion().status, schemas::promotion_status::complete);
}

TEST_F(promotion_rules, a_second_open_transition_to_the_same_stage_is_refused_and_names_the_first) {
    const auto first = transition_to(stage::production);
    const auto refused_while = [&](std::string_view when) {
        const auto refused = ask_for(stage::production);
        EXPECT_EQ(code_of(refused), error_code::already_exists) << when;
        EXPECT_THAT(refused.message, HasSubstr("transition " + std::to_string(first.value) + " of")) << when;
    };
    refused_while("PENDING");
    review(other, first, false);
    refused_while("REJECTED");
    review(other, first, true);
    refused_while("APPROVED");
    const auto staging = transition_to(stage::staging);
    close(first);
    const auto second = transition_to(stage::production);
    EXPECT_NE(second, first);
    EXPECT_EQ(code_of(ask_for(stage::staging)), error_code::already_exists) << "the other is still open";
    close(first);
    EXPECT_EQ(code_of(ask_for(stage::production)), error_code::already_exists) << "it was closed already";
    review(other, second, true);
    EXPECT_EQ(commit(second).code, 0u);
    close(staging);
    move_to(stage::staging);
    EXPECT_EQ(ask_for(stage::production).code, 0u) << "the one before is committed";
}

TEST_F(promotion_rules, open_transitions_of_other_versions_do_not_count) {
    transition_to(stage::production);
    version = registry.version_named("v2", version.registered_model_id);
    EXPECT_EQ(ask_for(stage::production).code, 0u);
}

TEST_F(promotion_rules, to_the_same_stage_nothing_is_asked_for_whatever_is_open) {
    EXPECT_EQ(ask_for(stage::unassigned).code, 0u);
    EXPECT_EQ(ask_for(stage::unassigned).code, 0u) << "what is closed at once is in nobody's way";
    const auto open = transition_to(stage::staging);
    schemas::model_version there = stored();
    there.stage = stage::staging;
    registry.put(key_of(table::version).number(version.id), there);
    EXPECT_EQ(ask_for(stage::staging).code, 0u);
    close(open);
    there.stage = stage::unassigned;
    registry.put(key_of(table::version).number(version.id), there);
    EXPECT_EQ(ask_for(stage::staging).code, 0u);
}

TEST_F(promotion_rules, with_the_flag_off_the_stage_changes_and_no_event_is_made) {
    schemas::commands::set_feature_flag off;
    off.name = "promote_events";
    EXPECT_EQ(registry.run(off).code, 0u);
    promote();
    EXPECT_EQ(stored().stage, stage::production);
    EXPECT_EQ(promotion().event_id, "");
    EXPECT_TRUE(registry.outbox().empty());
}

TEST_F(promotion_rules, events_of_one_version_are_numbered_and_stay_in_one_partition) {
    promote();
    const auto back = transition_to(stage::staging);
    review(other, back, true);
    commit(back);
    promote();
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].partition_sequence, 1u);
    EXPECT_EQ(events[1].partition_sequence, 2u);
    EXPECT_EQ(events[0].resource_sequence, 1u);
    EXPECT_EQ(events[1].resource_sequence, 2u);
    EXPECT_NE(events[0].id, events[1].id);
}

TEST_F(promotion_rules, a_policy_can_demand_a_safe_scan) {
    auto workspace = *find_row<schemas::workspace>(*registry.view(), key_of(table::workspace).number(1));
    workspace.policies.require_safe_scan_for = {stage::production};
    registry.put(key_of(table::workspace).number(1), workspace);
    const auto transition = transition_to(stage::production);
    EXPECT_EQ(review(other, transition, true).code, 0u);
    const schemas::commands::outcome refused = commit(transition);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("require_safe_scan_for"));
}

}  // namespace
}  // namespace herald::test
