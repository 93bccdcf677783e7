// Protects P3: the audience of an event is decided once, at its place in the log.
#include <gmock/gmock.h>

#include <algorithm>

#include "events/event_topic.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::tables;

using schemas::event_type;
using schemas::resource_filter;
using schemas::resource_type;

class webhook_rules : public testing::Test {
  protected:
    registry registry;

    schemas::webhook hook_with(std::vector<event_type> types, bool all,
                               std::vector<resource_filter> filters) {
        schemas::commands::create_webhook command;
        command.settings.name = "hook " + std::to_string(registry.offset);
        command.settings.location = "https://example.org";
        command.settings.event_types = std::move(types);
        command.settings.all_events = all;
        command.settings.resource_types = std::move(filters);
        return registry.must<schemas::webhook>(command);
    }
    /// Webhooks in the audience of the newest event; empty when there was none.
    std::vector<std::uint64_t> audience_after_creating_a_model() {
        const std::size_t before = registry.outbox().size();
        registry.model_named("model " + std::to_string(registry.offset));
        const auto events = registry.outbox();
        std::vector<std::uint64_t> ids;
        if (events.size() == before) return ids;
        const auto newest = std::max_element(
            events.begin(), events.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
        for (const auto& member : newest->audience) ids.push_back(member.webhook_id.value);
        return ids;
    }
    /// The publisher tells how far it has come.
    void tell_published(const decltype(schemas::commands::node_heartbeat::published)& published) {
        schemas::commands::node_heartbeat heartbeat;
        heartbeat.node = "a";
        heartbeat.first = true;
        const schemas::commands::claim claim{"publisher", "a", {}};
        heartbeat.publisher_token = registry.must<schemas::claim_row>(claim).token;
        heartbeat.published = published;
        registry.run(heartbeat);
    }
    static resource_filter registry_filter(resource_type type) {
        return {type, resource_type::none, resource_type::none};
    }
};

TEST_F(webhook_rules, hear_their_event_types_or_all) {
    const auto creates = hook_with({event_type::create}, false, {});
    hook_with({event_type::promote}, false, {});
    const auto everything = hook_with({}, true, {});
    EXPECT_THAT(audience_after_creating_a_model(),
                testing::UnorderedElementsAre(creates.id.value, everything.id.value));
}

TEST_F(webhook_rules, resource_types_filter_even_all_events) {
    hook_with({}, true, {registry_filter(resource_type::registered_model_version)});
    const auto models = hook_with({}, true, {registry_filter(resource_type::registered_model)});
    const auto all = hook_with({}, true, {registry_filter(resource_type::all)});
    EXPECT_THAT(audience_after_creating_a_model(),
                testing::UnorderedElementsAre(models.id.value, all.id.value));
}

TEST_F(webhook_rules, made_later_do_not_hear_of_what_was) {
    registry.model_named("before");
    hook_with({}, true, {});
    EXPECT_TRUE(registry.outbox().empty());
}

TEST_F(webhook_rules, hear_only_their_workspace) {
    const auto user = registry.user_named("b@example.org");
    schemas::commands::create_webhook command;
    command.settings.name = "elsewhere";
    command.settings.location = "https://example.org";
    command.settings.all_events = true;
    command.workspace_id = user.default_workspace_id;
    registry.must<schemas::webhook>(command);
    EXPECT_TRUE(audience_after_creating_a_model().empty());
}

TEST_F(webhook_rules, deleted_hear_nothing_and_leave_a_change_for_the_subscribers) {
    const auto hook = hook_with({}, true, {});
    schemas::commands::delete_webhooks command;
    command.ids = {hook.id};
    EXPECT_EQ(registry.run(command).code, 0u);
    EXPECT_TRUE(audience_after_creating_a_model().empty());
    std::vector<std::string> changes;
    const std::string all = key_of(table::webhook_change);
    registry.view()->scan(all, {}, [&](std::string_view, std::string_view value) {
        changes.emplace_back(value);
        return true;
    });
    EXPECT_THAT(changes, testing::ElementsAre("-"));
    EXPECT_EQ(code_of(registry.run(command)), error_code::not_found);
}

TEST_F(webhook_rules, need_a_system_administrator_a_free_name_and_one_key_in_each_filter) {
    const auto user = registry.user_named("b@example.org");
    schemas::commands::create_webhook command;
    command.settings.name = "one";
    command.settings.location = "https://example.org";
    command.settings.all_events = true;
    EXPECT_EQ(code_of(registry.run_as(user.id, command)), error_code::permission_denied);
    EXPECT_EQ(registry.run(command).code, 0u);
    EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists);
    command.settings.name = "two";
    command.settings.resource_types = {resource_filter{}};
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command.settings.resource_types.clear();
    command.workspace_id.value = 77;
    EXPECT_EQ(code_of(registry.run(command)), error_code::not_found);
}

TEST_F(webhook_rules, are_changed_by_admins_of_their_workspace_if_the_installation_says_so) {
    using schemas::webhooks_by;
    const auto hook = registry.webhook_for({schemas::event_type::promote});
    const schemas::user_id admin = registry.second_admin();
    const auto stranger = registry.user_named("s@example.org");
    schemas::commands::create_webhook creation;
    creation.settings.name = "of an admin";
    creation.settings.location = "https://example.org";
    creation.settings.all_events = true;
    creation.workspace_id.value = 1;
    schemas::commands::update_webhook change;
    change.id = hook.id;
    change.new_location = "https://example.com";
    const schemas::commands::set_webhook_status off{hook.id, schemas::webhook_status::disabled};
    const schemas::commands::delete_webhooks removal{{hook.id}};
    const auto codes_for = [&](schemas::user_id who) {
        return std::vector{registry.run_as(who, creation).code, registry.run_as(who, change).code,
                           registry.run_as(who, off).code, registry.run_as(who, removal).code};
    };
    const std::vector<std::uint32_t> all_denied(4, 7), all_absent(4, 5), all_done(4, 0);
    EXPECT_EQ(codes_for(admin), all_denied);
    EXPECT_EQ(codes_for(stranger.id), all_denied);
    EXPECT_EQ(registry.run(schemas::commands::set_webhooks_by{webhooks_by::workspace_admins}).code, 0u);
    EXPECT_EQ(codes_for(stranger.id), all_absent) << "in a workspace that they do not see";
    creation.settings.name = "of another workspace";
    creation.workspace_id = storage::registry::access::own_workspace_of(*registry.view(), stranger)->id;
    EXPECT_EQ(registry.run_as(admin, creation).code, 5u);
    EXPECT_EQ(registry.run_as(stranger.id, creation).code, 0u) << "the owner is its admin";
    creation.workspace_id.value = 1;
    EXPECT_EQ(codes_for(admin), all_done);
    EXPECT_EQ(registry.run(schemas::commands::set_webhooks_by{webhooks_by::system_admins}).code, 0u);
    EXPECT_EQ(codes_for(admin), all_denied);
}

TEST_F(webhook_rules, need_more_than_a_role_that_may_everything_but_administer) {
    const auto hook = registry.webhook_for({schemas::event_type::promote});
    const auto writer = registry.user_named("w@example.org");
    schemas::commands::set_group creation;
    creation.org_id.value = 1;
    creation.name = "writers";
    const auto group = registry.must<schemas::group>(creation);
    const schemas::organization_id org{1};
    EXPECT_EQ(registry.run(schemas::commands::add_group_users{org, group.id, {writer.id}}).code, 0u);
    schemas::commands::change_permission grant;
    grant.org_id = org;
    grant.id.value = 1;
    grant.permission = {group.id, schemas::role_id{2}};
    EXPECT_EQ(registry.run(grant).code, 0u);
    registry.run(schemas::commands::set_webhooks_by{schemas::webhooks_by::workspace_admins});
    const auto refused = registry.run_as(writer.id, schemas::commands::delete_webhooks{{hook.id}});
    EXPECT_EQ(code_of(refused), error_code::permission_denied);
    EXPECT_THAT(refused.message,
                testing::HasSubstr("needs an admin of the workspace \"default\" or a system administrator"));
}

TEST_F(webhook_rules, that_could_never_hear_anything_are_refused_saying_what_would_be_right) {
    const auto refused = [&](bool all, std::vector<resource_filter> filters) {
        schemas::commands::create_webhook command;
        command.settings.name = "w";
        command.settings.location = "https://example.org";
        command.settings.all_events = all;
        command.settings.resource_types = std::move(filters);
        const schemas::commands::outcome outcome = registry.run(command);
        EXPECT_EQ(code_of(outcome), error_code::invalid_argument);
        return outcome.message;
    };
    const auto none = resource_type::none;
    EXPECT_THAT(refused(false, {}), testing::HasSubstr("give event types, or all_events true"));
    EXPECT_THAT(refused(true, {{resource_type::build, none, none}}),
                testing::HasSubstr("it must be REGISTERED_MODEL, REGISTERED_MODEL_VERSION or ALL"));
    EXPECT_THAT(refused(true, {{none, resource_type::registered_model, none}}),
                testing::HasSubstr("it must be ENDPOINT, BUILD or ALL"));
    EXPECT_THAT(refused(true, {{none, none, resource_type::build}}), testing::HasSubstr("it must be ALL"));
    hook_with({}, true, {{none, resource_type::endpoint, none}, {none, none, resource_type::all}});
}

TEST_F(webhook_rules, whose_resource_types_let_none_of_their_events_through_are_refused) {
    const auto none = resource_type::none;
    const resource_filter builds{none, resource_type::build, none},
        endpoints{none, resource_type::endpoint, none};
    const resource_filter models = registry_filter(resource_type::registered_model);
    const resource_filter versions = registry_filter(resource_type::registered_model_version);
    const auto outcome_of = [&](std::vector<event_type> types, std::vector<resource_filter> filters) {
        schemas::commands::create_webhook command;
        command.settings.name = "hook " + std::to_string(registry.offset);
        command.settings.location = "https://example.org";
        command.settings.event_types = std::move(types);
        command.settings.resource_types = std::move(filters);
        return registry.run(command);
    };
    const auto deaf = {outcome_of({event_type::promote}, {builds}),
                       outcome_of({event_type::promote}, {models, endpoints}),
                       outcome_of({event_type::request_scan}, {models, versions, endpoints}),
                       outcome_of({event_type::promote, event_type::request_scan}, {models, endpoints})};
    for (const schemas::commands::outcome& outcome : deaf) {
        EXPECT_EQ(code_of(outcome), error_code::invalid_argument);
        EXPECT_THAT(
            outcome.message,
            testing::HasSubstr(
                "PROMOTE tells of REGISTERED_MODEL_VERSION, REQUEST_SCAN tells of BUILD, "
                "TRANSITION tells of REGISTERED_MODEL_VERSION, WEBHOOK_HEALTH tells of "
                "webhooks, if resource_types is empty, CREATE, READ, UPDATE, DELETE of any resource"));
    }
    for (const auto& heard : {outcome_of({event_type::promote}, {builds, versions}),
                              outcome_of({event_type::request_scan}, {builds}),
                              outcome_of({event_type::promote}, {registry_filter(resource_type::all)}),
                              outcome_of({event_type::promote, event_type::request_scan}, {versions}),
                              outcome_of({event_type::promote, event_type::create}, {endpoints}),
                              outcome_of({event_type::request_scan}, {{none, resource_type::all, none}}),
                              outcome_of({event_type::request_scan}, {{none, none, resource_type::all}})})
        EXPECT_EQ(heard.code, 0u) << heard.message;
    EXPECT_TRUE(registry.outbox().empty()) << "asking who would hear tells nobody";
}

TEST_F(webhook_rules, are_at_most_256_in_a_workspace) {
    for (int i = 0; i < 256; ++i) hook_with({}, true, {});
    schemas::commands::create_webhook command;
    command.settings.name = "one too many";
    command.settings.location = "https://example.org";
    command.settings.all_events = true;
    EXPECT_EQ(code_of(registry.run(command)), error_code::resource_exhausted);
}

TEST_F(webhook_rules, that_are_gone_are_disabled_by_the_jobs_holder_and_then_held) {
    const auto hook = hook_with({}, true, {});
    schemas::commands::claim claim;
    claim.job = "webhook-health";
    claim.node = "a";
    schemas::commands::webhook_health report;
    report.webhook_id = hook.id;
    report.revision = hook.revision;
    report.condition = schemas::commands::webhook_condition::gone;
    EXPECT_EQ(code_of(registry.run(report)), error_code::aborted) << "nobody holds the job";
    report.token = registry.must<schemas::claim_row>(claim).token;
    EXPECT_EQ(registry.run(report).code, 0u);
    registry.model_named("m");
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    ASSERT_EQ(events[0].audience.size(), 1u);
    EXPECT_EQ(events[0].audience[0].webhook_id, hook.id);
    EXPECT_TRUE(events[0].audience[0].held);
    EXPECT_GT(events[0].audience[0].revision, hook.revision) << "it was disabled since";
}

TEST_F(webhook_rules, outbox_rows_are_dropped_only_when_published_and_thirty_days_old) {
    hook_with({}, true, {});
    registry.model_named("m");
    const auto trim = [&] {
        registry.now_ms += limits::outbox_kept_ms + 2ll * 24 * 3'600'000;
        registry.run(schemas::commands::no_operation{});
        registry.run(schemas::commands::no_operation{});
        return registry.outbox().size();
    };
    EXPECT_EQ(trim(), 1u) << "not published yet";
    tell_published({{"events.resource", 0, 1},
                    {"events.resource", 1, 1},
                    {"events.resource", 2, 1},
                    {"events.resource", 3, 1}});
    EXPECT_EQ(trim(), 0u);
}

TEST_F(webhook_rules, rows_that_are_not_published_do_not_keep_those_behind_them) {
    hook_with({}, true, {});
    for (int count = 0; count < 700; ++count) registry.model_named("m" + std::to_string(count));
    // The other two partitions, whose rows come first, are stuck.
    tell_published({{"events.resource", 2, 1'000}, {"events.resource", 3, 1'000}});
    const auto rows = registry.outbox();
    const auto stuck =
        static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const schemas::event& event) {
            return events::partition_of(event.resource_id, 4) < 2;
        }));
    ASSERT_GT(stuck, 300u) << "more than one firing looks at";
    ASSERT_LT(stuck, 400u);
    registry.now_ms += limits::outbox_kept_ms + 2ll * 24 * 3'600'000;
    for (int records = 0; records < 5; ++records) registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(registry.outbox().size(), stuck);
    registry.now_ms += 2ll * 24 * 3'600'000;
    tell_published({{"events.resource", 0, 1'000}, {"events.resource", 1, 1'000}});
    registry.now_ms += 2ll * 24 * 3'600'000;
    for (int records = 0; records < 5; ++records) registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(registry.outbox().size(), 0u) << "the next day begins at the oldest again";
}

TEST_F(webhook_rules, a_failure_before_all_time_is_no_harm) {
    const auto hook = hook_with({}, true, {});
    schemas::commands::webhook_health report;
    report.webhook_id = hook.id;
    report.revision = hook.revision;
    report.token =
        registry.must<schemas::claim_row>(schemas::commands::claim{"webhook-health", "a", {}}).token;
    report.condition = schemas::commands::webhook_condition::failing;
    report.failing_since_ms = INT64_MIN;
    EXPECT_EQ(registry.run(report).code, 0u);
}

TEST_F(webhook_rules, named_twice_are_deleted_once) {
    const auto hook = hook_with({}, true, {});
    schemas::commands::delete_webhooks command;
    command.ids = {hook.id, hook.id};
    EXPECT_EQ(registry.run(command).code, 0u);
}

TEST_F(webhook_rules, that_are_changed_hear_otherwise_from_that_place_on_under_a_new_revision) {
    const auto hook = hook_with({event_type::promote}, false, {});
    EXPECT_THAT(audience_after_creating_a_model(), testing::IsEmpty());
    schemas::commands::update_webhook command;
    command.id = hook.id;
    command.new_location = "https://example.org/new";
    command.add_event_types = {event_type::create, event_type::create};
    command.delete_event_types = {event_type::promote};
    command.add_resource_types = {registry_filter(resource_type::registered_model)};
    const auto changed = registry.must<schemas::webhook>(command);
    EXPECT_THAT(changed.settings.event_types, testing::ElementsAre(event_type::create));
    EXPECT_EQ(changed.settings.location, "https://example.org/new");
    EXPECT_GT(changed.revision, hook.revision);
    EXPECT_THAT(audience_after_creating_a_model(), testing::ElementsAre(hook.id.value));
    command = {};
    command.id = hook.id;
    EXPECT_EQ(registry.must<schemas::webhook>(command).revision, changed.revision) << "nothing changes";
    std::vector<std::uint64_t> offsets;
    webhooks::each_change(*registry.view(), 0, [&](const webhooks::change& change) {
        offsets.push_back(change.offset);
        return true;
    });
    EXPECT_THAT(offsets, testing::ElementsAre(changed.revision)) << "what the publisher forwards";
}

TEST_F(webhook_rules, that_would_hear_nothing_after_a_change_are_left_as_they_are) {
    const auto hook = hook_with({event_type::promote}, false, {});
    schemas::commands::update_webhook command;
    command.id = hook.id;
    command.delete_event_types = {event_type::promote};
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command.delete_event_types = {};
    command.add_resource_types = {registry_filter(resource_type::registered_model)};
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    EXPECT_EQ(webhooks::find(*registry.view(), hook.id)->revision, hook.revision);
}

TEST_F(webhook_rules, that_are_disabled_hold_events_until_they_are_enabled_and_then_have_no_failures) {
    const auto hook = hook_with({}, true, {});
    using schemas::webhook_status;
    const auto off = registry.must<schemas::webhook>(
        schemas::commands::set_webhook_status{hook.id, webhook_status::disabled});
    EXPECT_EQ(off.status, webhook_status::disabled);
    EXPECT_EQ(off.status_reason, "disabled by user 1");
    registry.model_named("held");
    EXPECT_TRUE(registry.outbox().front().audience.front().held);
    const auto on = registry.must<schemas::webhook>(
        schemas::commands::set_webhook_status{hook.id, webhook_status::enabled});
    EXPECT_EQ(on.status, webhook_status::enabled);
    EXPECT_EQ(on.status_reason, "");
    EXPECT_GT(on.revision, off.revision);
    schemas::commands::webhook_health report;
    report.webhook_id = hook.id;
    report.revision = on.revision;
    report.token =
        registry.must<schemas::claim_row>(schemas::commands::claim{"webhook-health", "a", {}}).token;
    report.condition = schemas::commands::webhook_condition::failing;
    report.failing_since_ms = registry.now_ms;
    registry.run(report);
    EXPECT_NE(webhooks::find(*registry.view(), hook.id)->failing_since_ms, 0);
    const auto well = registry.must<schemas::webhook>(
        schemas::commands::set_webhook_status{hook.id, webhook_status::enabled});
    EXPECT_EQ(well.failing_since_ms, 0) << "enabling one that is enabled forgets its failures, too";
}

class reported_events : public webhook_rules {
  protected:
    static schemas::commands::create_event event_named(const std::string& uuid) {
        schemas::commands::create_event command;
        command.event_uuid = uuid;
        command.event_type = event_type::update;
        command.resource_type = resource_type::endpoint;
        command.resource_id = "7";
        command.timestamp = 1'600'000'000'000;
        command.new_entity.text = R"({"id":7})";
        return command;
    }
};

TEST_F(reported_events, reach_who_hears_such_events_once_in_thirty_days) {
    hook_with({event_type::create}, false, {});
    const auto hears = hook_with({event_type::update}, false, {});
    const auto first = registry.must<schemas::external_event>(event_named("one"));
    EXPECT_EQ(first.audience, 1u);
    ASSERT_EQ(registry.outbox().size(), 1u);
    const schemas::event told = registry.outbox().front();
    EXPECT_EQ(told.audience, (std::vector<schemas::audience_member>{{hears.id, false, hears.revision}}));
    EXPECT_EQ(told.id, first.id);
    EXPECT_EQ(told.resource_id, "7");
    EXPECT_EQ(told.body, R"({"id":")" + first.id +
                             R"(","timestamp":"2020-09-13T12:26:40.000Z","event_type":"UPDATE",)"
                             R"("resource_type":"ENDPOINT","workspaceID":1,"updated":{"id":7}})");
    registry.now_ms += 30ll * 24 * 3'600'000 - 1;
    EXPECT_EQ(registry.must<schemas::external_event>(event_named("one")).id, first.id);
    EXPECT_EQ(registry.outbox().size(), 1u);
    registry.now_ms += 1;
    EXPECT_NE(registry.must<schemas::external_event>(event_named("one")).id, first.id);
    EXPECT_EQ(registry.outbox().size(), 2u);
}

TEST_F(reported_events, are_unique_in_their_workspace_only) {
    auto command = event_named("one");
    const auto first = registry.must<schemas::external_event>(command);
    command.workspace_id = registry.user_named("b@example.org").default_workspace_id;
    EXPECT_NE(registry.must<schemas::external_event>(command).id, first.id);
}

TEST_F(reported_events, of_types_that_herald_alone_tells_are_refused) {
    for (const event_type type : {event_type::promote, event_type::request_scan, event_type::transition,
                                  event_type::webhook_health}) {
        auto command = event_named("one");
        command.event_type = type;
        EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    }
    EXPECT_EQ(code_of(registry.run_as(registry.second_admin(), event_named("one"))),
              error_code::permission_denied);
}

}  // namespace
}  // namespace herald::test
