// Protects what an owner sets of a webhook (wire.md §7 "Settings of a webhook", delivery.md §2): each setting
// is taken, changed and taken back, within its bounds; a filter decides who hears; a secret is rotated.
#include <gmock/gmock.h>

#include "schemas/limits.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;

using schemas::event_type;
using schemas::webhook;
using schemas::commands::create_webhook;
using schemas::commands::rotate_webhook_secret;
using schemas::commands::update_webhook;

class webhook_settings_rules : public testing::Test {
  protected:
    registry registry;

    create_webhook command_named(const std::string& name) const {
        create_webhook command;
        command.settings.name = name;
        command.settings.location = "https://receiver.example/hook";
        command.settings.event_types = {event_type::create};
        command.sealed_secret = "first";
        command.seal_binding = "webhook:1";
        return command;
    }
    webhook hook = registry.must<webhook>(command_named("w"));

    webhook now() { return *webhooks::find(*registry.view(), hook.id); }
    update_webhook update() const {
        update_webhook command;
        command.id = hook.id;
        return command;
    }
    std::string refusal(const auto& change) {
        create_webhook command = command_named("refused");
        change(command.settings.delivery);
        const auto outcome = registry.run(command);
        EXPECT_EQ(code_of(outcome), error_code::invalid_argument);
        return outcome.message;
    }
    void pass(std::int64_t ms) {
        registry.now_ms += ms;
        registry.run(schemas::commands::no_operation{});
    }
    std::vector<std::string> heard_by(std::uint64_t id) {
        std::vector<std::string> heard;
        for (const schemas::event& each : registry.outbox())
            for (const auto& member : each.audience)
                if (member.webhook_id.value == id) heard.push_back(each.subject);
        return heard;
    }
};

TEST_F(webhook_settings_rules, set_what_is_given_and_leave_the_rest) {
    update_webhook command = update();
    command.new_name = "other";
    command.delivery.timeout_ms = 2'000;
    command.delivery.retry_schedule = {5, 86'400};
    command.delivery.rate_limit = 7;
    command.given = {"timeout_ms", "retry_schedule"};
    const auto changed = registry.must<webhook>(command);
    EXPECT_EQ(changed.settings.name, "other");
    EXPECT_EQ(changed.settings.delivery.timeout_ms, 2'000u);
    EXPECT_EQ(changed.settings.delivery.rate_limit, 0u) << "not given";
    EXPECT_GT(changed.revision, hook.revision);
    EXPECT_TRUE(webhooks::named(*registry.view(), hook.workspace_id, "other"));
    EXPECT_FALSE(webhooks::named(*registry.view(), hook.workspace_id, "w"));
    command = update();
    command.given = {"timeout_ms"};
    EXPECT_EQ(registry.must<webhook>(command).settings.delivery.timeout_ms, 0u) << "null: the usual one";
    EXPECT_EQ(now().settings.delivery.retry_schedule.size(), 2u);
    registry.must<webhook>(command_named("w"));
    command = update();
    command.new_name = "w";
    EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists);
}

TEST_F(webhook_settings_rules, are_refused_beyond_their_bounds_saying_what_would_be_right) {
    using delivery = schemas::webhook_delivery;
    EXPECT_THAT(refusal([](delivery& d) { d.timeout_ms = 999; }),
                testing::HasSubstr("timeout_ms is 999; it must be 1000 to 30000"));
    EXPECT_THAT(refusal([](delivery& d) { d.timeout_ms = 30'001; }), testing::HasSubstr("30001"));
    EXPECT_THAT(refusal([](delivery& d) {
                    d.retry_schedule = {5, 4};
                }),
                testing::HasSubstr("retry_schedule[1] is 4; it must be 5 to 86400"));
    EXPECT_THAT(refusal([](delivery& d) { d.retry_schedule = {86'401}; }), testing::HasSubstr("86401"));
    EXPECT_THAT(refusal([](delivery& d) { d.retry_schedule.assign(17, 5); }), testing::HasSubstr("17 waits"));
    EXPECT_THAT(refusal([](delivery& d) { d.rate_limit = 10'001; }), testing::HasSubstr("rate_limit"));
    EXPECT_THAT(refusal([&](delivery& d) { d.time_expires = registry.now_ms; }),
                testing::HasSubstr("a time to come"));
    EXPECT_THAT(refusal([](delivery& d) {
                    d.filter = {{"nothing", {}, {"1"}}};
                }),
                testing::HasSubstr("filter[0].path begins with"));
    EXPECT_THAT(refusal([](delivery& d) { d.description.assign(limits::description_bytes_max + 1, 'x'); }),
                testing::HasSubstr("description"));
}

TEST_F(webhook_settings_rules, add_replace_and_remove_headers_by_name) {
    update_webhook command = update();
    command.headers = {{"x-key", "sealed 1", "b1"}, {"authorization", "sealed 2", "b2"}};
    registry.must<webhook>(command);
    command = update();
    command.headers = {{"x-key", "sealed 3", "b3"}};
    command.not_headers = {"authorization", "x-never-there"};
    const auto changed = registry.must<webhook>(command);
    EXPECT_EQ(changed.headers, (std::vector<schemas::webhook_header>{{"x-key", "sealed 3", "b3"}}));
    for (const char* name :
         {"host", "webhook-signature", "svc-event-id", "ce-id", "content-type", "connection",
          "transfer-encoding", "proxy-authorization", "X-Upper", "a b", ""}) {
        command = update();
        command.headers = {{name, "sealed", "b"}};
        EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument) << name;
    }
    command = update();
    for (int i = 0; i < 16; ++i) command.headers.push_back({"x-" + std::to_string(i), "sealed", "b"});
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument) << "17 with x-key";
    command.clear_headers = true;
    EXPECT_EQ(registry.must<webhook>(command).headers.size(), 16u);
}

TEST_F(webhook_settings_rules, the_values_of_headers_do_not_go_to_another_host) {
    update_webhook command = update();
    command.headers = {{"authorization", "sealed", "b"}, {"x-key", "sealed", "b2"}};
    const auto before = registry.must<webhook>(command);
    const std::string location = before.settings.location;
    const auto moved = [&](const std::string& to) {
        update_webhook move = update();
        move.new_location = to;
        return move;
    };
    EXPECT_EQ(registry.run(moved(location + "/elsewhere?x=1")).code, 0u) << "the same host";
    for (const std::string to : {"https://other.example/", "http://other.example:81/hook"})
        EXPECT_THAT(registry.run(moved(to)).message, testing::HasSubstr("give headers.authorization again"))
            << to;
    update_webhook anew = moved("https://other.example/");
    anew.headers = {{"authorization", "sealed anew", "b3"}};
    EXPECT_THAT(registry.run(anew).message, testing::HasSubstr("headers.x-key again"));
    anew.not_headers = {"x-key"};
    EXPECT_EQ(registry.must<webhook>(anew).headers, anew.headers);
    update_webhook cleared = moved(location);
    cleared.clear_headers = true;
    EXPECT_TRUE(registry.must<webhook>(cleared).headers.empty());
}

TEST_F(webhook_settings_rules, a_filter_decides_who_hears_at_the_events_place_in_the_log) {
    create_webhook command = command_named("filtered");
    command.settings.delivery.filter = {{"updated.name", schemas::find_operator::contain, {R"("fraud")"}}};
    const auto filtered = registry.must<webhook>(command);
    registry.model_named("fraud 1");
    registry.model_named("weather");
    update_webhook none;
    none.id = filtered.id;
    none.given = {"filter"};
    registry.must<webhook>(none);
    registry.model_named("rain");
    EXPECT_THAT(heard_by(filtered.id.value), testing::UnorderedElementsAre("fraud 1", "rain"));
    EXPECT_THAT(heard_by(hook.id.value), testing::UnorderedElementsAre("fraud 1", "weather", "rain"));
}

TEST_F(webhook_settings_rules, an_event_that_every_filter_refuses_is_none) {
    update_webhook command = update();
    command.delivery.filter = {{"updated.name", schemas::find_operator::eq, {R"("x")"}}};
    command.given = {"filter"};
    registry.must<webhook>(command);
    registry.model_named("y");
    EXPECT_TRUE(registry.outbox().empty());
}

TEST_F(webhook_settings_rules, delete_a_webhook_when_it_expires_and_not_when_that_was_put_off) {
    update_webhook command = update();
    command.delivery.time_expires = registry.now_ms + 10'000;
    command.given = {"time_expires"};
    registry.must<webhook>(command);
    command.delivery.time_expires += 10'000;
    registry.must<webhook>(command);
    pass(10'000);
    EXPECT_TRUE(webhooks::find(*registry.view(), hook.id));
    pass(10'000);
    EXPECT_FALSE(webhooks::find(*registry.view(), hook.id));
}

TEST_F(webhook_settings_rules, rotate_a_secret_keeping_the_earlier_one_until_the_overlap_ends) {
    const auto rotate = [&](const std::string& secret, std::uint32_t overlap) {
        return registry.must<webhook>(rotate_webhook_secret{hook.id, secret, "webhook:2", overlap});
    };
    const auto first = rotate("second", 60);
    EXPECT_EQ(first.sealed_secret, "second");
    EXPECT_EQ(first.earlier_secret,
              (schemas::earlier_secret{"first", "webhook:1", registry.now_ms + 60'000}));
    const auto second = rotate("third", 120);
    EXPECT_EQ(second.earlier_secret.sealed_secret, "second") << "the first rotation's overlap is over";
    pass(60'000);
    EXPECT_EQ(now().earlier_secret.sealed_secret, "second") << "the timer of the first one";
    pass(60'000);
    EXPECT_EQ(now().earlier_secret, schemas::earlier_secret{});
    EXPECT_GT(now().revision, second.revision) << "workers forget it, too";
    EXPECT_EQ(rotate("fourth", 0).earlier_secret, schemas::earlier_secret{});
    rotate("fifth", 60);
    update_webhook replace = update();
    replace.sealed_secret = "sixth";
    EXPECT_EQ(registry.must<webhook>(replace).earlier_secret, schemas::earlier_secret{});
    EXPECT_EQ(code_of(registry.run(rotate_webhook_secret{hook.id, "s", "b", 7 * 86'400 + 1})),
              error_code::invalid_argument);
    EXPECT_EQ(code_of(registry.run(rotate_webhook_secret{{99}, "s", "b", 1})), error_code::not_found);
    EXPECT_EQ(code_of(registry.run_as(registry.user_named("u@example.org").id,
                                      rotate_webhook_secret{hook.id, "s", "b", 1})),
              error_code::permission_denied);
}

}  // namespace
}  // namespace herald::test
