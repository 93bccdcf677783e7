// Protects webhooks whose receivers fail (delivery.md §3-4): they are disabled only after days of nothing but
// failures, and others are told before, when and after it happens.
#include <gmock/gmock.h>

#include "schemas/json.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;

using schemas::event_type;
using schemas::webhook_status;
using schemas::commands::webhook_condition;

constexpr std::int64_t minute_ms = 60'000, hour_ms = 60 * minute_ms, day_ms = 24 * hour_ms;

class webhook_health_rules : public testing::Test {
  protected:
    registry registry;
    std::uint64_t token =
        registry.must<schemas::claim_row>(schemas::commands::claim{"webhook-health", "a", {}}).token;

    schemas::webhook hook_named(const std::string& name, std::vector<event_type> types) {
        schemas::commands::create_webhook command;
        command.settings.name = name;
        command.settings.location = "https://receiver.example:8443/hook?x=1";
        command.settings.event_types = std::move(types);
        return registry.must<schemas::webhook>(command);
    }
    schemas::webhook failing = hook_named("failing", {event_type::promote, event_type::webhook_health});
    schemas::webhook watcher = hook_named("watcher", {event_type::webhook_health});

    schemas::webhook now() { return *webhooks::find(*registry.view(), failing.id); }
    schemas::commands::webhook_health report(webhook_condition condition) {
        schemas::commands::webhook_health made;
        made.webhook_id = failing.id;
        made.revision = now().revision;
        made.token = token;
        made.condition = condition;
        return made;
    }
    void fails(std::int64_t since_ms, std::uint32_t attempts) {
        auto made = report(webhook_condition::failing);
        made.failing_since_ms = since_ms;
        made.failed_until_ms = registry.now_ms;
        made.failed_attempts = attempts;
        made.reason = "answered 500";
        ASSERT_EQ(registry.run(made).code, 0u);
    }
    void recovers() { ASSERT_EQ(registry.run(report(webhook_condition::healthy)).code, 0u); }
    void gone(std::uint32_t attempts) {
        auto made = report(webhook_condition::gone);
        made.failed_attempts = attempts;
        made.reason = "the receiver answered 410 Gone";
        ASSERT_EQ(registry.run(made).code, 0u);
    }
    void pass(std::int64_t ms) {
        registry.now_ms += ms;
        registry.run(schemas::commands::no_operation{});
    }
    std::vector<schemas::event> told() {
        auto all = registry.outbox();
        std::ranges::sort(all, {}, &schemas::event::resource_sequence);
        return all;
    }
    std::vector<std::string> conditions() {
        std::vector<std::string> found;
        for (const schemas::event& each : told())
            found.push_back(*schemas::parse_json(each.body)->find("condition")->get_if<std::string>());
        return found;
    }
};

TEST_F(webhook_health_rules, disable_after_five_days_of_nothing_but_failures_announced_a_day_before) {
    const std::int64_t began_ms = registry.now_ms;
    fails(began_ms, 1);
    pass(12 * hour_ms);
    fails(began_ms, 1);
    pass(4 * day_ms - 12 * hour_ms - 1);
    EXPECT_THAT(conditions(), testing::IsEmpty());
    pass(1);
    EXPECT_THAT(conditions(), testing::ElementsAre("disabling"));
    EXPECT_THAT(told().back().body, testing::HasSubstr("it is disabled at 2023-11-19T22:13:20.000Z"));
    pass(day_ms - 1);
    EXPECT_EQ(now().status, webhook_status::enabled);
    pass(1);
    EXPECT_EQ(now().status, webhook_status::disabled);
    EXPECT_THAT(conditions(), testing::ElementsAre("disabling", "disabled"));
}

TEST_F(webhook_health_rules, disable_nobody_for_failures_within_less_than_twelve_hours) {
    fails(registry.now_ms, 5);
    registry.now_ms += 12 * hour_ms - 1;
    fails(0, 6);
    pass(30 * day_ms);
    EXPECT_EQ(now().status, webhook_status::enabled);
    fails(0, 7);
    EXPECT_EQ(now().status, webhook_status::enabled) << "it has not been announced";
    pass(day_ms);
    EXPECT_EQ(now().status, webhook_status::disabled);
    EXPECT_THAT(conditions(), testing::ElementsAre("disabling", "disabled"));
}

TEST_F(webhook_health_rules, disable_nobody_who_has_recovered_since) {
    fails(registry.now_ms - day_ms, 1);
    pass(day_ms);
    recovers();
    fails(registry.now_ms - 13 * hour_ms, 1);
    pass(3 * day_ms + hour_ms);
    EXPECT_EQ(now().status, webhook_status::enabled);
    EXPECT_THAT(conditions(), testing::IsEmpty()) << "the first failures' time is over, not the second's";
}

TEST_F(webhook_health_rules, tell_of_ten_failures_in_ten_minutes_and_of_the_recovery_once_each) {
    const std::int64_t began_ms = registry.now_ms;
    fails(began_ms, 10);
    registry.now_ms += 10 * minute_ms;
    fails(began_ms, 9);
    EXPECT_THAT(conditions(), testing::IsEmpty());
    fails(began_ms, 10);
    fails(began_ms, 12);
    recovers();
    recovers();
    const auto all = told();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].body, R"({"id":")" + all[0].id +
                               R"(","timestamp":"2023-11-14T22:23:20.000Z","event_type":"WEBHOOK_HEALTH",)"
                               R"("resource_type":"NONE","workspaceID":1,"webhook":{"id":1,"name":"failing",)"
                               R"("host":"receiver.example:8443"},"condition":"failing",)"
                               R"("since":"2023-11-14T22:13:20.000Z","reason":"answered 500"})");
    EXPECT_THAT(all[1].body, testing::HasSubstr(R"("condition":"recovered")"));
    for (const schemas::event& each : all)
        EXPECT_EQ(each.audience,
                  (std::vector<schemas::audience_member>{{watcher.id, false, watcher.revision}}))
            << "never the webhook itself";
}

TEST_F(webhook_health_rules, tell_once_in_ten_minutes_that_a_receiver_is_gone) {
    const auto enable = [&] {
        registry.run(schemas::commands::set_webhook_status{failing.id, webhook_status::enabled});
    };
    gone(1);
    EXPECT_EQ(now().status, webhook_status::disabled);
    enable();
    registry.now_ms += limits::webhook_disabled_told_again_ms - 1;
    gone(1);
    EXPECT_EQ(now().status, webhook_status::disabled);
    EXPECT_THAT(conditions(), testing::ElementsAre("disabled"));
    enable();
    registry.now_ms += 1;
    gone(1);
    EXPECT_THAT(conditions(), testing::ElementsAre("disabled", "disabled"));
}

TEST_F(webhook_health_rules, tell_nobody_of_what_only_deliveries_of_such_news_have_shown) {
    fails(registry.now_ms - day_ms, 0);
    pass(5 * day_ms);
    EXPECT_EQ(now().status, webhook_status::disabled);
    registry.run(schemas::commands::set_webhook_status{failing.id, webhook_status::enabled});
    gone(0);
    EXPECT_EQ(now().status, webhook_status::disabled);
    EXPECT_THAT(conditions(), testing::IsEmpty());
}

TEST_F(webhook_health_rules, are_heard_only_by_webhooks_that_name_the_type_and_no_resource_types) {
    schemas::commands::create_webhook command;
    command.settings.name = "everything";
    command.settings.location = "https://example.org";
    command.settings.all_events = true;
    registry.must<schemas::webhook>(command);
    command.settings.name = "of a type";
    command.settings.event_types = {event_type::webhook_health};
    command.settings.resource_types = {{schemas::resource_type::all, {}, {}}};
    registry.must<schemas::webhook>(command);
    command.settings.all_events = false;
    command.settings.name = "deaf";
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    gone(1);
    ASSERT_EQ(told().size(), 1u);
    EXPECT_EQ(told()[0].audience.size(), 1u);
    EXPECT_EQ(told()[0].audience[0].webhook_id, watcher.id);
}

TEST_F(webhook_health_rules, tell_of_the_recovery_at_another_location) {
    fails(registry.now_ms - day_ms, 10);
    schemas::commands::update_webhook command;
    command.id = failing.id;
    command.new_location = "https://elsewhere.example";
    registry.must<schemas::webhook>(command);
    EXPECT_THAT(conditions(), testing::ElementsAre("failing"));
    recovers();
    recovers();
    EXPECT_THAT(conditions(), testing::ElementsAre("failing", "recovered"));
}

TEST_F(webhook_health_rules, begin_anew_at_another_location) {
    fails(registry.now_ms - day_ms, 10);
    schemas::commands::update_webhook command;
    command.id = failing.id;
    command.new_location = "https://elsewhere.example";
    const auto moved = registry.must<schemas::webhook>(command);
    EXPECT_EQ(moved.failing_since_ms, 0);
    pass(5 * day_ms);
    EXPECT_EQ(now().status, webhook_status::enabled);
}

}  // namespace
}  // namespace herald::test
