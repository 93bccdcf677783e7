// Protects scans: each accepted request gives one REQUEST_SCAN, and a finished scan never silently becomes
// safe.
#include <gmock/gmock.h>

#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/tables/stages.hpp"
#include "tests/unit/storage/registry/scan_rules.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::engine;
using namespace storage::registry::find;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using testing::HasSubstr;

/// By age.
std::vector<schemas::build> readable_builds(test::registry& all, schemas::user_id user,
                                            schemas::version_id version) {
    auto page = whole(search_builds(*all.view(), user, version, {}));
    EXPECT_TRUE(page) << page.error().message;
    return {page->rows.rbegin(), page->rows.rend()};
}

TEST_F(scan_rules, a_request_makes_one_event_of_the_specified_shape) {
    EXPECT_EQ(request(build.id).code, 0u);
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].resource_type, schemas::kind_of(events[0].type).resource);
    EXPECT_THAT(events[0].body,
                HasSubstr("\"event_type\":\"REQUEST_SCAN\",\"resource_type\":\"BUILD\",\"workspaceID\":1"));
    EXPECT_THAT(events[0].body,
                HasSubstr("\"updated\":{\"buildID\":1,\"imageurl\":\"registry.example.org/m:1\"}"));
}

TEST_F(scan_rules, a_running_scan_is_not_requested_again) {
    request(build.id);
    EXPECT_EQ(code_of(request(build.id)), error_code::failed_precondition);
    EXPECT_EQ(registry.outbox().size(), 1u);
}

TEST_F(scan_rules, a_build_in_error_is_not_scanned_and_says_why) {
    const auto failed = make_build("");
    EXPECT_EQ(failed.status, schemas::build_status::error);
    const auto outcome = request(failed.id);
    EXPECT_EQ(code_of(outcome), error_code::failed_precondition);
    EXPECT_THAT(outcome.message, HasSubstr("external_location"));
    EXPECT_TRUE(registry.outbox().empty());
}

TEST_F(scan_rules, a_report_needs_a_request_unless_it_says_unsafe) {
    for (const auto& refused : {report(scan_status::scanned, safety_status::safe),
                                report(scan_status::error, safety_status::unknown),
                                report(scan_status::error, safety_status::safe)}) {
        EXPECT_EQ(code_of(refused), error_code::failed_precondition);
        EXPECT_THAT(refused.message, HasSubstr("request a scan first"));
    }
}

TEST_F(scan_rules, an_unscanned_build_may_be_reported_unsafe) {
    registry.webhook_for({schemas::event_type::update});
    const auto told = report(scan_status::scanned, safety_status::unsafe);
    ASSERT_EQ(told.code, 0u) << told.message;
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u) << "nobody is asked to scan it";
    EXPECT_EQ(events[0].type, schemas::event_type::update);
    EXPECT_EQ(events[0].resource_type, schemas::resource_type::build);
    const auto kept = schemas::decode<schemas::scan>(told.body);
    EXPECT_EQ(kept->scan_status, scan_status::scanned);
    EXPECT_EQ(kept->safety_status, safety_status::unsafe);
    EXPECT_EQ(kept->url, "https://example.org/report");
    EXPECT_EQ(build_now().scan_id, kept->id);
    EXPECT_EQ(build_now().unsafe_scan_id, kept->id);
    EXPECT_EQ(report(scan_status::scanned, safety_status::unsafe).body, told.body) << "the same again";
    EXPECT_EQ(registry.outbox().size(), 1u);
    EXPECT_EQ(code_of(report(scan_status::scanned, safety_status::safe)), error_code::aborted);
    EXPECT_FALSE(has_safe_build(*registry.view(), version));
    registry.now_ms += 25ll * 3'600'000;
    registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(newest_scan(*registry.view(), build_now())->scan_status, scan_status::scanned);
}

TEST_F(scan_rules, a_build_in_error_may_be_reported_unsafe) {
    build = make_build("");
    EXPECT_EQ(report(scan_status::scanned, safety_status::unsafe).code, 0u);
}

TEST_F(scan_rules, a_new_scan_of_a_build_that_was_unsafe_says_that_it_stays_ineligible) {
    report(scan_status::scanned, safety_status::unsafe);
    const auto asked = request(build.id);
    ASSERT_EQ(asked.code, 0u) << asked.message;
    const auto fresh = schemas::decode<schemas::scan>(asked.body);
    EXPECT_NE(fresh->id, build_now().unsafe_scan_id);
    EXPECT_EQ(fresh->scan_status, scan_status::scanning);
    EXPECT_THAT(fresh->message, HasSubstr("scan 1 reported build 1 unsafe"));
    EXPECT_THAT(fresh->message, HasSubstr("create a new build"));
    EXPECT_FALSE(has_safe_build(*registry.view(), version)) << "while it is scanned anew";
    const auto safe = report(scan_status::scanned, safety_status::safe);
    ASSERT_EQ(safe.code, 0u) << safe.message;
    EXPECT_EQ(schemas::decode<schemas::scan>(safe.body)->message, fresh->message);
    EXPECT_EQ(report(scan_status::scanned, safety_status::safe).body, safe.body);
    EXPECT_EQ(build_now().unsafe_scan_id.value, 1u);
    EXPECT_FALSE(has_safe_build(*registry.view(), version)) << "whatever later scans say";
}

TEST_F(scan_rules, a_scan_of_a_build_that_was_never_unsafe_has_no_message) {
    EXPECT_EQ(schemas::decode<schemas::scan>(request(build.id).body)->message, "");
    EXPECT_EQ(schemas::decode<schemas::scan>(report(scan_status::scanned, safety_status::safe).body)->message,
              "");
    EXPECT_FALSE(build_now().unsafe_scan_id);
}

TEST_F(scan_rules, the_same_report_again_changes_nothing) {
    request(build.id);
    const auto first = report(scan_status::scanned, safety_status::safe);
    const auto second = report(scan_status::scanned, safety_status::safe);
    EXPECT_EQ(first.code, 0u);
    EXPECT_EQ(first.body, second.body);
}

TEST_F(scan_rules, a_safe_build_may_become_unsafe_but_never_quietly_safe) {
    request(build.id);
    report(scan_status::scanned, safety_status::safe);
    EXPECT_EQ(report(scan_status::scanned, safety_status::unsafe).code, 0u);
    EXPECT_EQ(code_of(report(scan_status::scanned, safety_status::safe)), error_code::aborted);
    EXPECT_EQ(code_of(report(scan_status::error, safety_status::unknown)), error_code::aborted);
}

TEST_F(scan_rules, a_scan_without_a_report_ends_in_error_and_still_takes_a_late_one) {
    request(build.id);
    registry.now_ms += 24ll * 3'600'000 + 1'000;
    registry.run(schemas::commands::no_operation{});
    const auto late = find_row<schemas::scan>(*registry.view(), key_of(table::scan).number(1));
    EXPECT_EQ(late->scan_status, scan_status::error);
    EXPECT_EQ(report(scan_status::scanned, safety_status::safe).code, 0u);
}

TEST_F(scan_rules, an_answered_scan_has_no_deadline_left) {
    request(build.id);
    report(scan_status::scanned, safety_status::safe);
    registry.now_ms += 25ll * 3'600'000;
    registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(find_row<schemas::scan>(*registry.view(), key_of(table::scan).number(1))->scan_status,
              scan_status::scanned);
}

TEST_F(scan_rules, a_new_request_makes_a_new_scan_and_keeps_the_old) {
    request(build.id);
    report(scan_status::scanned, safety_status::unsafe);
    EXPECT_EQ(request(build.id).code, 0u);
    EXPECT_EQ(registry.outbox().size(), 2u);
    EXPECT_EQ(find_row<schemas::scan>(*registry.view(), key_of(table::scan).number(1))->safety_status,
              safety_status::unsafe);
    EXPECT_EQ(find_row<schemas::scan>(*registry.view(), key_of(table::scan).number(2))->scan_status,
              scan_status::scanning);
}

TEST_F(scan_rules, reports_must_be_complete) {
    request(build.id);
    EXPECT_EQ(code_of(report(scan_status::scanned, safety_status::unknown)), error_code::invalid_argument);
    EXPECT_EQ(code_of(report(scan_status::scanning, safety_status::safe)), error_code::invalid_argument);
}

TEST_F(scan_rules, a_version_without_a_build_gets_one_whose_error_is_told_and_kept) {
    schemas::commands::request_version_scan command;
    command.model_version_id = registry.version_named("v2", version.registered_model_id).id;
    const auto answer = registry.must<schemas::scan>(command);
    EXPECT_EQ(answer.scan_status, scan_status::unscanned);
    EXPECT_THAT(answer.message, testing::HasSubstr("no model that Herald can build an image from"));
    const auto builds = readable_builds(registry, registry.admin, command.model_version_id);
    ASSERT_EQ(builds.size(), 1u);
    EXPECT_EQ(builds.front().id, answer.build_id);
    EXPECT_EQ(builds.front().status, schemas::build_status::error);
    command.model_version_id = version.id;
    EXPECT_EQ(registry.must<schemas::scan>(command).scan_status, scan_status::scanning);
}

TEST_F(scan_rules, a_reader_without_deploy_is_told_so) {
    const auto reader = registry.user_named("b@example.org");
    auto workspace = *find_row<schemas::workspace>(*registry.view(), key_of(table::workspace).number(1));
    auto role = *find_row<schemas::role>(*registry.view(), key_of(table::role).number(3));
    role.actions = {{schemas::protected_type::registered_model, {schemas::action::read}}};
    workspace.permissions = {{schemas::group_id{2}, role.id}};  // All Users
    row_changes changes;
    changes[key_of(table::workspace).number(1)] = schemas::encode(workspace);
    changes[key_of(table::role).number(3)] = schemas::encode(role);
    ASSERT_TRUE(registry.store->write(changes));
    engine reopened(*registry.store);
    schemas::commands::request_scan command;
    command.workspace_name = "default";
    command.build_id = build.id;
    const auto applied = reopened.apply(registry.record_of(registry.envelope_of(reader.id, command)));
    EXPECT_EQ(code_of(applied->outcome), error_code::permission_denied) << applied->outcome.message;
}

TEST_F(scan_rules, builds_of_other_peoples_workspaces_decide_nothing) {
    const auto other = registry.second_admin();
    schemas::commands::create_build command;
    command.workspace_name = "second@example.org";
    command.model_version_id = version.id;
    command.external_location = "registry.example.org/fake:1";
    const auto foreign = registry.must<schemas::build>(other, command);
    schemas::commands::request_scan scan;
    scan.workspace_name = command.workspace_name;
    scan.build_id = foreign.id;
    EXPECT_EQ(registry.run_as(other, scan).code, 0u);
    schemas::commands::report_scan safe;
    safe.workspace_name = command.workspace_name;
    safe.build_id = foreign.id;
    safe.scan_status = scan_status::scanned;
    safe.safety_status = safety_status::safe;
    EXPECT_EQ(registry.run_as(other, safe).code, 0u);
    EXPECT_FALSE(has_safe_build(*registry.view(), version)) << "a policy of this workspace asks for its own";

    schemas::commands::request_version_scan of_version;
    of_version.model_version_id = version.id;
    EXPECT_EQ(registry.must<schemas::scan>(of_version).build_id, build.id) << "the other is not to be seen";
    EXPECT_EQ(code_of(registry.run_as(other, of_version)), error_code::failed_precondition)
        << "who sees the other, too, asks for a scan of this workspace's, which is running";
    report(scan_status::scanned, safety_status::safe);
    EXPECT_TRUE(has_safe_build(*registry.view(), version));
}

TEST_F(scan_rules, a_safe_build_counts_only_while_what_it_is_made_of_is_unchanged) {
    const auto change = [&](const std::string& member) {
        schemas::commands::update_version command;
        command.id = version.id;
        command.mode = schemas::commands::update_mode::merge;
        command.present = {member};
        command.version.attributes = {{"k", {"1"}, {}}};
        command.version.environment = {R"({"docker":{}})"};
        version = registry.must<schemas::model_version>(command);
    };
    request(build.id);
    report(scan_status::scanned, safety_status::safe);
    change("attributes");
    EXPECT_TRUE(has_safe_build(*registry.view(), version)) << "no image holds them";
    change("environment");
    EXPECT_FALSE(has_safe_build(*registry.view(), version));
    request(build.id);
    report(scan_status::scanned, safety_status::safe);
    EXPECT_FALSE(has_safe_build(*registry.view(), version)) << "the image is still the old one";
    schemas::commands::set_policies policies;
    policies.workspace_name = "default";
    policies.policies.require_safe_scan_for = {schemas::stage::staging};
    ASSERT_EQ(registry.run(policies).code, 0u);
    const schemas::commands::update_stage update{version.id, schemas::stage::staging, ""};
    EXPECT_THAT(registry.run(update).message, HasSubstr("made after what it is made of was changed"));
    build = make_build("registry.example.org/m:2");
    request(build.id);
    report(scan_status::scanned, safety_status::safe);
    EXPECT_EQ(registry.run(update).code, 0u);
}

TEST_F(scan_rules, builds_of_a_version_and_their_echoed_requests_are_bounded) {
    schemas::commands::create_build command;
    command.workspace_name = "default";
    command.model_version_id = version.id;
    command.external_location = "registry.example.org/m:1";
    command.creator_request.text.assign(limits::creator_request_bytes_max + 1, ' ');
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command.creator_request.text = "{}";
    for (std::size_t made = 1; made < limits::builds_per_version_max; ++made)
        ASSERT_EQ(registry.run(command).code, 0u) << made;
    EXPECT_EQ(code_of(registry.run(command)), error_code::failed_precondition);
    const auto other = registry.second_admin();
    command.workspace_name = "second@example.org";
    EXPECT_EQ(registry.run_as(other, command).code, 0u) << "each workspace has room of its own";
    EXPECT_EQ(readable_builds(registry, other, version.id).size(), limits::builds_per_version_max + 1);
    EXPECT_EQ(readable_builds(registry, registry.admin, version.id).size(), limits::builds_per_version_max);
}

TEST_F(scan_rules, builds_of_a_version_are_listed_by_age_over_workspaces) {
    const auto other = registry.second_admin();
    schemas::commands::create_build command;
    command.workspace_name = "second@example.org";
    command.model_version_id = version.id;
    command.external_location = "registry.example.org/m:2";
    const auto second = registry.must<schemas::build>(other, command);
    const auto third = make_build("registry.example.org/m:3");
    std::vector<schemas::build_id> ids;
    for (const auto& one : readable_builds(registry, other, version.id)) ids.push_back(one.id);
    EXPECT_THAT(ids, testing::ElementsAre(build.id, second.id, third.id));
}

TEST_F(scan_rules, the_newest_of_the_earlier_scans_are_kept_in_view) {
    std::vector<schemas::scan_id> made;
    for (int i = 0; i < 5; ++i) {
        made.push_back(schemas::decode<schemas::scan>(request(build.id).body)->id);
        report(scan_status::scanned, safety_status::safe);
    }
    std::vector<schemas::scan_id> shown;
    for (const auto& one : scans_before(*registry.view(), build.id, made[4], 3)) shown.push_back(one.id);
    EXPECT_THAT(shown, testing::ElementsAre(made[1], made[2], made[3]));
    EXPECT_TRUE(scans_before(*registry.view(), build.id, made[0], 3).empty());
}

TEST_F(scan_rules, results_are_reported_by_who_may_update_models_and_not_by_who_may_only_build) {
    const auto user = registry.user_named("b@example.org").id;
    auto workspace = *find_row<schemas::workspace>(*registry.view(), key_of(table::workspace).number(1));
    auto role = *find_row<schemas::role>(*registry.view(), key_of(table::role).number(3));
    role.id.value = 50;
    role.built_in = false;
    workspace.permissions = {{schemas::group_id{2}, role.id}};  // All Users
    registry.put(key_of(table::workspace).number(1), workspace);
    const auto codes = [&](schemas::protected_type on, schemas::action may) {
        role.actions = {{schemas::protected_type::registered_model, {schemas::action::read}}, {on, {may}}};
        registry.put(key_of(table::role).number(50), role);
        build = make_build("registry.example.org/m:2");
        const auto asked = registry.run_as(user, schemas::commands::request_scan{"default", build.id, {}});
        const schemas::commands::report_scan told{"default", build.id, scan_status::scanned,
                                                  safety_status::unsafe, ""};
        return std::vector{code_of(asked), code_of(registry.run_as(user, told))};
    };
    using testing::ElementsAre;
    EXPECT_THAT(codes(schemas::protected_type::endpoint, schemas::action::deploy),
                ElementsAre(error_code{}, error_code::permission_denied));
    EXPECT_THAT(codes(schemas::protected_type::registered_model, schemas::action::update),
                ElementsAre(error_code::permission_denied, error_code{}));
}

TEST_F(scan_rules, what_cannot_be_built_is_not_built_again_and_the_version_says_why) {
    schemas::commands::request_version_scan command;
    command.model_version_id = registry.version_named("v2", version.registered_model_id).id;
    const auto first = registry.must<schemas::scan>(command);
    for (int i = 0; i < 3; ++i) {
        const auto again = registry.must<schemas::scan>(command);
        EXPECT_EQ(again.build_id, first.build_id);
        EXPECT_EQ(again.message, first.message);
    }
    EXPECT_EQ(readable_builds(registry, registry.admin, command.model_version_id).size(), 1u);
    std::vector<std::string> history;
    activities::each_of(*registry.view(), command.model_version_id, {}, [&](schemas::activity_id id) {
        history.push_back(activities::find(*registry.view(), id)->message);
        return true;
    });
    EXPECT_THAT(history, testing::ElementsAre(first.message));

    schemas::commands::create_build made;
    made.workspace_name = "default";
    made.model_version_id = command.model_version_id;
    made.external_location = "registry.example.org/m:2";
    const auto good = registry.must<schemas::build>(made);
    made.external_location.clear();
    registry.must<schemas::build>(made);  // in error, and newer
    EXPECT_EQ(registry.must<schemas::scan>(command).build_id, good.id) << "the newest that was finished";
}

TEST_F(scan_rules, a_request_and_a_missed_deadline_are_told_as_changes_of_the_build) {
    const auto told = [&] {
        std::vector<std::string> bodies;
        for (const auto& event : registry.outbox())
            if (event.type == schemas::event_type::update) bodies.push_back(event.body);
        return bodies;
    };
    registry.webhook_for({schemas::event_type::update});
    const auto before = build_now().time_updated;
    request(build.id);
    ASSERT_EQ(told().size(), 1u);
    const auto requested = build_now().time_updated;
    EXPECT_GT(requested, before);
    registry.now_ms += 24ll * 3'600'000 + 1'000;
    registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(told().size(), 2u);
    EXPECT_GT(build_now().time_updated, requested);
}

TEST_F(scan_rules, a_missed_deadline_does_not_hide_that_the_build_was_once_unsafe) {
    request(build.id);
    report(scan_status::scanned, safety_status::unsafe);
    request(build.id);
    registry.now_ms += 24ll * 3'600'000 + 1'000;
    registry.run(schemas::commands::no_operation{});
    EXPECT_THAT(newest_scan(*registry.view(), build_now())->message,
                testing::AllOf(HasSubstr("no report came within 24 h"), HasSubstr("stays ineligible")));
}

/// As the holder of the job would report it.
schemas::commands::outcome ended(registry& registry, const schemas::scan& asked, schemas::webhook_id hook,
                                 schemas::delivery_end how) {
    const auto token =
        registry.must<schemas::claim_row>(schemas::commands::claim{"webhook-health", "a", {}}).token;
    return registry.run(schemas::commands::delivery_ended{asked.event_id, asked.build_id, hook, how, token});
}

TEST_F(scan_rules, a_scan_whose_request_can_reach_nobody_any_more_says_so_and_is_requested_anew_at_once) {
    const auto second = registry.webhook_for({schemas::event_type::request_scan});
    const auto asked = *schemas::decode<schemas::scan>(request(build.id).body);
    EXPECT_EQ(ended(registry, asked, hook.id, schemas::delivery_end::dead).code, 0u);
    EXPECT_EQ(newest_scan(*registry.view(), build_now())->message, "") << "the second may still hear it";
    EXPECT_EQ(code_of(request(build.id)), error_code::failed_precondition);
    EXPECT_EQ(ended(registry, asked, second.id, schemas::delivery_end::skipped).code, 0u);
    const auto lost = *newest_scan(*registry.view(), build_now());
    EXPECT_EQ(lost.scan_status, scan_status::scanning);
    EXPECT_THAT(lost.message, testing::AllOf(HasSubstr("webhook 1 dead"), HasSubstr("webhook 2 skipped"),
                                             HasSubstr("request the scan again")));
    const auto again = request(build.id);
    ASSERT_EQ(again.code, 0u) << again.message;
    EXPECT_NE(schemas::decode<schemas::scan>(again.body)->id, asked.id);
    EXPECT_EQ(find_row<schemas::scan>(*registry.view(), key_of(table::scan).number(asked.id))->scan_status,
              scan_status::error);
    ended(registry, asked, hook.id, schemas::delivery_end::dead);  // of the scan before: too late
    EXPECT_EQ(newest_scan(*registry.view(), build_now())->message, "");
    EXPECT_EQ(code_of(request(build.id)), error_code::failed_precondition);
}

TEST_F(scan_rules, a_scan_that_nobody_was_asked_for_says_so_and_may_be_requested_again) {
    const auto says = [&](const std::string& why) {
        const auto asked = request(build.id);
        EXPECT_EQ(asked.code, 0u) << asked.message;
        EXPECT_THAT(schemas::decode<schemas::scan>(asked.body)->message, HasSubstr(why));
    };
    registry.run(schemas::commands::set_webhook_status{hook.id, schemas::webhook_status::disabled});
    says("webhook 1 held");
    says("webhook 1 held");
    registry.run(schemas::commands::set_feature_flag{"scan_events", false, ""});
    says("the feature flag scan_events is off");
    registry.run(schemas::commands::set_feature_flag{"scan_events", true, ""});
    registry.run(schemas::commands::delete_webhooks{{hook.id}});
    says("no webhook of the workspace hears REQUEST_SCAN");
    EXPECT_EQ(report(scan_status::scanned, safety_status::safe).code, 0u) << "a report is taken all the same";
}

TEST_F(scan_rules, the_end_of_a_delivery_is_taken_from_the_holder_of_the_job_alone) {
    const auto asked = *schemas::decode<schemas::scan>(request(build.id).body);
    const schemas::commands::delivery_ended command{asked.event_id, build.id, hook.id,
                                                    schemas::delivery_end::dead, 99};
    EXPECT_EQ(code_of(registry.run(command)), error_code::aborted);
    EXPECT_EQ(newest_scan(*registry.view(), build_now())->message, "");
}

TEST_F(scan_rules, where_others_must_report_nobody_calls_their_own_build_or_scan_safe) {
    const auto other = registry.second_admin();
    schemas::commands::set_policies policies;
    policies.workspace_name = "default";
    policies.policies.scan_by_others = true;
    ASSERT_EQ(registry.run(policies).code, 0u);
    const auto report_as = [&](schemas::user_id who, safety_status said) {
        return registry.run_as(
            who, schemas::commands::report_scan{"default", build.id, scan_status::scanned, said, ""});
    };
    ASSERT_EQ(registry.run_as(other, schemas::commands::request_scan{"default", build.id, {}}).code, 0u);
    EXPECT_EQ(code_of(report_as(other, safety_status::safe)), error_code::permission_denied)
        << "they requested it";
    const auto refused = report_as(registry.admin, safety_status::safe);
    EXPECT_EQ(code_of(refused), error_code::permission_denied) << "they made the build";
    EXPECT_THAT(refused.message, HasSubstr("scan_by_others"));
    policies.policies.scan_by_others = false;
    ASSERT_EQ(registry.run(policies).code, 0u);
    EXPECT_EQ(report_as(other, safety_status::safe).code, 0u);
    policies.policies.scan_by_others = true;
    ASSERT_EQ(registry.run(policies).code, 0u);
    EXPECT_EQ(report_as(other, safety_status::safe).code, 0u) << "the same report again changes nothing";
    EXPECT_EQ(report_as(other, safety_status::unsafe).code, 0u) << "unsafe is taken from everybody";
    const auto scanner = registry.user_named("scanner@example.org").id;
    schemas::commands::add_group_users add;
    add.org_id.value = add.group_id.value = 1;
    add.user_id = {scanner};
    ASSERT_EQ(registry.run(add).code, 0u);
    build = make_build("registry.example.org/m:2");
    request(build.id);
    EXPECT_EQ(report_as(scanner, safety_status::safe).code, 0u);
}

TEST_F(scan_rules, events_of_builds_show_what_the_scan_says) {
    registry.webhook_for({schemas::event_type::update});
    request(build.id);
    report(scan_status::scanned, safety_status::unsafe);
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 3u);  // UPDATE and REQUEST_SCAN of the request, UPDATE of the report
    std::vector<std::string> said;
    for (const auto& event : events) {
        if (event.type != schemas::event_type::update) continue;
        const auto body = schemas::parse_json(event.body);
        for (const char* entity : {"original", "updated"})
            said.push_back(*body->find(entity)->find("scan_status")->get_if<std::string>() + " " +
                           *body->find(entity)->find("safety_status")->get_if<std::string>());
    }
    EXPECT_THAT(said, testing::ElementsAre("unscanned unknown", "scanning unknown", "scanning unknown",
                                           "scanned unsafe"));
}

}  // namespace
}  // namespace herald::test
