// Protects what is sent again (wire.md §7 "Deliveries"): who may, what a replay covers, how far it is; and
// that events are found by their ids for as long as they are kept.
#include <gmock/gmock.h>

#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/replays.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using namespace schemas::commands;
using schemas::event_type;
using schemas::replay_state;
using ::testing::HasSubstr;

class delivery_rules : public testing::Test {
  protected:
    registry registry;
    const schemas::webhook hook = registry.webhook_for({event_type::create});
    const schemas::registered_model model = registry.model_named("m");

    schemas::event event_of_model() { return registry.outbox().back(); }
    retry_delivery retry_of(const schemas::event& event) { return {event.id, hook.id}; }
    begin_replay replay_of_hook() {
        begin_replay command;
        command.scope.webhook_id = hook.id;
        return command;
    }
    void expect(const outcome& of, error_code code, const std::string& text) {
        EXPECT_EQ(of.code, static_cast<std::uint32_t>(code)) << of.message;
        EXPECT_THAT(of.message, HasSubstr(text));
    }
    void disable() {
        set_webhook_status command{hook.id, schemas::webhook_status::disabled};
        registry.must<schemas::webhook>(command);
    }
    std::uint64_t claim_replays() {
        return registry.must<schemas::claim_row>(claim{"replay", "a", {}}).token;
    }
    schemas::replay row(schemas::replay_id id) { return tables::replays::find(*registry.view(), id).value(); }
};

TEST_F(delivery_rules, an_event_is_found_by_its_id) {
    const schemas::event event = event_of_model();
    const auto found = tables::outbox::find(*registry.view(), event.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->body, event.body);
    EXPECT_FALSE(tables::outbox::find(*registry.view(), "1-none"));
    std::vector<std::string> by_time;
    tables::outbox::each_from(*registry.view(), 0, {}, [&](const tables::outbox::summary& each) {
        by_time.push_back(each.event.id);
        EXPECT_EQ(each.event.workspace_id, event.workspace_id);
        EXPECT_EQ(each.time_ms, event.time_ms);
        return true;
    });
    EXPECT_THAT(by_time, testing::ElementsAre(event.id));
}

TEST_F(delivery_rules, an_event_names_the_request_that_caused_it) {
    create_model command;
    command.workspace_name = "default";
    command.model.name = "caused";
    auto envelope = registry.envelope_of(registry.admin, command);
    envelope.request.request_id = "request-7";
    ASSERT_TRUE(registry.engine_of_log.apply(registry.record_of(envelope)));
    EXPECT_EQ(event_of_model().request_id, "request-7");
}

TEST_F(delivery_rules, whoever_may_change_webhooks_or_what_the_event_is_about_sends_again) {
    const schemas::event event = event_of_model();
    EXPECT_EQ(registry.run(retry_of(event)).code, 0u);
    const schemas::user stranger = registry.user_named("stranger@example.org");
    expect(registry.run_as(stranger.id, retry_of(event)), error_code::not_found, "webhook");
    EXPECT_EQ(registry.run_as(registry.second_admin(), retry_of(event)).code, 0u);
    schemas::event none = event;
    none.id = "1-none";
    expect(registry.run(retry_of(none)), error_code::not_found, "30 days");
    disable();
    expect(registry.run(retry_of(event)), error_code::failed_precondition, "enable it first");
}

TEST_F(delivery_rules, a_replay_needs_who_may_change_webhooks_and_one_that_is_enabled) {
    expect(registry.run(begin_replay{}), error_code::invalid_argument, "webhook_id is missing");
    expect(registry.run_as(registry.second_admin(), replay_of_hook()), error_code::permission_denied,
           "system administrator");
    begin_replay of_none = replay_of_hook();
    of_none.scope.webhook_id.value = 99;
    const schemas::user stranger = registry.user_named("stranger@example.org");
    expect(registry.run_as(stranger.id, of_none), error_code::permission_denied, "system administrator");
    const auto begun = registry.must<schemas::replay>(replay_of_hook());
    EXPECT_EQ(begun.state, replay_state::running);
    EXPECT_EQ(begun.settings, hook.settings);
    EXPECT_GT(begun.scope.until_ms, registry.now_ms - 1);
    disable();
    expect(registry.run(replay_of_hook()), error_code::failed_precondition, "enable it first");
}

TEST_F(delivery_rules, several_deliveries_are_sent_by_a_replay_of_one_workspace_with_a_bound) {
    begin_replay command;
    command.scope.picked = {{event_of_model().id, hook.id}, {event_of_model().id, hook.id}};
    EXPECT_EQ(registry.run_as(registry.second_admin(), command).code, 0u);
    command.scope.picked.resize(limits::retried_at_once_max + 1, command.scope.picked[0]);
    expect(registry.run(command), error_code::invalid_argument, "or a filter");
}

TEST_F(delivery_rules, a_replay_is_paused_resumed_and_cancelled_but_not_once_it_has_ended) {
    const auto id = registry.must<schemas::replay>(replay_of_hook()).id;
    EXPECT_EQ(registry.must<schemas::replay>(set_replay_state{id, replay_state::paused}).state,
              replay_state::paused);
    EXPECT_EQ(registry.must<schemas::replay>(set_replay_state{id, replay_state::running}).state,
              replay_state::running);
    expect(registry.run(set_replay_state{id, replay_state::done}), error_code::invalid_argument, "cancelled");
    expect(registry.run_as(registry.second_admin(), set_replay_state{id, replay_state::paused}),
           error_code::not_found, "replay 1 not found");
    EXPECT_EQ(registry.must<schemas::replay>(set_replay_state{id, replay_state::cancelled}).state,
              replay_state::cancelled);
    expect(registry.run(set_replay_state{id, replay_state::running}), error_code::failed_precondition,
           "has ended");
    expect(registry.run(set_replay_state{{99}, replay_state::paused}), error_code::not_found, "replay 99");
}

TEST_F(delivery_rules, only_the_holder_of_the_claim_says_how_far_a_replay_is) {
    const auto id = registry.must<schemas::replay>(replay_of_hook()).id;
    const std::uint64_t token = claim_replays();
    report_replay report;
    report.replay_id = id;
    report.progress.sent = 3;
    report.token = token + 1;
    expect(registry.run(report), error_code::aborted, "another holder");
    report.token = token;
    EXPECT_EQ(registry.run(report).code, 0u);
    EXPECT_EQ(row(id).progress.sent, 3u);
    report.is_done = true;
    registry.run(report);
    EXPECT_EQ(row(id).state, replay_state::done);
    report.progress.sent = 9;
    registry.run(report);
    EXPECT_EQ(row(id).progress.sent, 3u) << "what has ended stays as it is";
}

TEST_F(delivery_rules, replays_are_bounded_and_forgotten_a_month_after_their_end) {
    schemas::replay_id first;
    for (std::size_t i = 0; i < limits::replays_running_max; ++i) {
        const auto id = registry.must<schemas::replay>(replay_of_hook()).id;
        if (!first) first = id;
    }
    expect(registry.run(replay_of_hook()), error_code::resource_exhausted, "cancel one");
    registry.must<schemas::replay>(set_replay_state{first, replay_state::cancelled});
    EXPECT_EQ(registry.run(replay_of_hook()).code, 0u);
    registry.now_ms += limits::replay_kept_ms + 1;
    registry.run(no_operation{});
    EXPECT_FALSE(tables::replays::find(*registry.view(), first));
}

TEST_F(delivery_rules, a_workspace_has_no_more_replays_in_a_month_than_are_kept) {
    for (std::size_t i = 0; i < limits::replays_kept_max; ++i) {
        const auto id = registry.must<schemas::replay>(replay_of_hook()).id;
        registry.must<schemas::replay>(set_replay_state{id, replay_state::cancelled});
    }
    expect(
        registry.run(replay_of_hook()), error_code::resource_exhausted,
        "has 1000 replays of the last 30 days, the most there may be; wait until the oldest are forgotten");
    registry.now_ms += limits::replay_kept_ms + 1;
    registry.run(no_operation{});
    EXPECT_EQ(registry.run(replay_of_hook()).code, 0u);
}

}  // namespace
}  // namespace herald::test
