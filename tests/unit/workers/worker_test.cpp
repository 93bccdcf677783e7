// Protects P3 over the whole worker: every delivery ends as done, retried or dead, whatever receivers and log
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/log/limits.hpp"
#include "runtime/limits.hpp"
#include "tests/unit/workers/worker_world.hpp"
#include "workers/fan_out.hpp"
#include "workers/limits.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using testing::HasSubstr;

// ---- the happy path

TEST_F(worker_test, an_event_reaches_each_webhook_of_its_audience_once_and_is_then_committed) {
    write_webhooks(1, 3);
    start();
    const schemas::event event = publish({1, 2, 3});
    scheduler.run_for(1 * second);

    ASSERT_EQ(transport.sent().size(), 3u);
    for (const std::uint64_t id : {1u, 2u, 3u}) {
        const auto sent = transport.sent_to({id});
        ASSERT_EQ(sent.size(), 1u);
        EXPECT_EQ(sent[0].location, "https://receiver-" + std::to_string(id) + ".example/1");
        EXPECT_EQ(sent[0].body, event.body);
        EXPECT_EQ(sent[0].headers.at("webhook-id"), schemas::delivery_id(event.id, {id}));
        EXPECT_EQ(sent[0].headers.at("svc-attempt"), "1");
        EXPECT_TRUE(sent[0].headers.contains("webhook-signature"));
    }
    const auto recorded = attempts();
    ASSERT_EQ(recorded.size(), 3u);
    for (const schemas::attempt& one : recorded) {
        EXPECT_EQ(one.result, attempt_result::succeeded);
        EXPECT_EQ(one.number, 1u);
        EXPECT_EQ(one.status, 200);
        EXPECT_EQ(one.event_id, event.id);
        EXPECT_THAT(one.request_headers, HasSubstr("webhook-id"));
    }
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, a_member_that_was_disabled_at_the_event_is_recorded_as_held_and_not_sent) {
    write_webhooks(1, 2);
    start();
    schemas::event event = event_for({1, 2});
    event.audience[0].held = true;
    publish(event);
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    const auto recorded = attempts_of(1);
    ASSERT_EQ(recorded.size(), 1u);
    EXPECT_EQ(recorded[0].result, attempt_result::held);
    EXPECT_EQ(recorded[0].number, 0u);
    EXPECT_EQ(committed(), 1);
}

TEST_F(worker_test, the_deliveries_of_an_event_that_the_log_refused_are_dead_with_its_reason) {
    write_webhooks(1, 2);
    start();
    schemas::event event = event_for({1, 2});
    event.body.clear();
    event.refused = "the log refused the event: too large";
    event.audience[1].held = true;
    publish(event);
    const schemas::event next = publish({1});
    scheduler.run_for(1 * second);
    ASSERT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(transport.sent()[0].body, next.body);
    ASSERT_EQ(dead().size(), 1u);
    EXPECT_EQ(dead()[0].reason, event.refused);
    EXPECT_EQ(dead()[0].id, schemas::delivery_id(event.id, {1}));
    ASSERT_EQ(attempts_of(2).size(), 1u);
    EXPECT_EQ(attempts_of(2)[0].result, attempt_result::held);
    EXPECT_EQ(counters().dead, 1u);
    EXPECT_EQ(counters().sequence_gaps, 0u);
    EXPECT_EQ(committed(), 2);
}

TEST_F(worker_test, an_event_without_audience_is_done_at_once) {
    start();
    publish(event_for({}));
    scheduler.run_for(1 * second);
    EXPECT_EQ(committed(), 1);
}

// ---- failures and retries

TEST_F(worker_test, a_failing_delivery_is_tried_as_scheduled_with_the_same_id_and_then_dead) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    const schemas::event event = publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(committed(), 1) << "the event is done as soon as the retry topic has the delivery";
    scheduler.run_for(10 * minute);
    scheduler.leap_for(120 * hour);

    const auto sent = transport.sent();
    ASSERT_EQ(sent.size(), 11u);
    constexpr std::int64_t hops_max = 17;
    constexpr std::int64_t leap_ms = 20 * second;
    for (std::size_t attempt = 1; attempt < sent.size(); ++attempt) {
        const std::int64_t waited = sent[attempt].at_ms - sent[attempt - 1].at_ms;
        const std::int64_t planned = default_retry_schedule_ms[attempt - 1];
        EXPECT_GE(waited, planned) << "before attempt " << attempt + 1;
        EXPECT_LE(waited, planned + planned / 5 + (attempt < 4 ? 1 * second : hops_max * leap_ms))
            << "before attempt " << attempt + 1;
        EXPECT_EQ(sent[attempt].headers.at("webhook-id"), schemas::delivery_id(event.id, {1}));
        EXPECT_EQ(sent[attempt].headers.at("svc-attempt"), std::to_string(attempt + 1));
    }
    const auto recorded = attempts();
    ASSERT_EQ(recorded.size(), 11u);
    for (std::size_t place = 0; place < 10; ++place) {
        EXPECT_EQ(recorded[place].result, attempt_result::will_retry);
        EXPECT_EQ(recorded[place].number, place + 1);
        EXPECT_GT(recorded[place].next_attempt_ms, recorded[place].time_ms);
    }
    EXPECT_EQ(recorded[10].result, attempt_result::dead);
    const auto kept = dead();
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].event.body, event.body);
    EXPECT_EQ(kept[0].attempts_made, 11u);
    EXPECT_THAT(kept[0].reason, HasSubstr("answered 500"));
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
    EXPECT_EQ(counters().dead, 1u);
    EXPECT_EQ(counters().spilled, 0u);
}

TEST_F(worker_test, a_retry_that_succeeds_ends_it) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.status =
                                      std::uint16_t(request.headers.at("svc-attempt") == "3" ? 204 : 503)};
    };
    start();
    publish({1});
    scheduler.leap_for(48 * hour);
    EXPECT_EQ(transport.sent().size(), 3u);
    EXPECT_TRUE(dead().empty());
    EXPECT_EQ(attempts().back().result, attempt_result::succeeded);
}

TEST_F(worker_test, a_retry_record_holds_neither_location_nor_secret) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    publish({1});
    scheduler.run_for(1 * second);
    const auto waiting = all_of<schemas::delivery>("retry.5s");
    ASSERT_EQ(waiting.size(), 1u);
    const std::string bytes = schemas::encode(waiting[0]);
    EXPECT_EQ(bytes.find("receiver-1.example"), std::string::npos);
    EXPECT_EQ(bytes.find("secret"), std::string::npos);
    EXPECT_EQ(waiting[0].revision_seen, 1u);
}

TEST_F(worker_test, the_location_is_the_rows_at_the_time_of_the_attempt) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    publish({1});
    scheduler.run_for(1 * second);
    write_webhook(webhook(1, 40));
    scheduler.run_for(10 * second);
    const auto sent = transport.sent();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].location, "https://receiver-1.example/1");
    EXPECT_EQ(sent[1].location, "https://receiver-1.example/40");
    EXPECT_EQ(attempts()[1].webhook_revision, 40u);
}

TEST_F(worker_test, a_webhook_deleted_between_attempts_is_recorded_as_skipped) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    publish({1});
    scheduler.run_for(1 * second);
    delete_webhook(1, 101);
    scheduler.run_for(1 * hour);
    EXPECT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(attempts().back().result, attempt_result::skipped);
    EXPECT_EQ(attempts().back().number, 0u);
    EXPECT_TRUE(dead().empty());
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, a_webhook_disabled_after_the_event_is_held_and_its_delivery_kept) {
    write_webhooks(1, 1);
    start();
    schemas::subscriber row = webhook(1, 99);
    row.enabled = false;
    write_webhook(row);
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_TRUE(transport.sent().empty());
    EXPECT_EQ(attempts().back().result, attempt_result::held);
    ASSERT_EQ(dead().size(), 1u) << "it matched while enabled: kept, and replayable";
    EXPECT_THAT(dead()[0].reason, HasSubstr("disabled"));
    EXPECT_EQ(committed(), 1);
}

TEST_F(worker_test, gone_is_dead_at_once_and_asks_for_the_webhook_to_be_disabled) {
    write_webhooks(1, 1);
    transport.behave = answers(410);
    start();
    publish({1});
    scheduler.run_for(1 * hour);
    EXPECT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(dead().size(), 1u);
    EXPECT_TRUE(attempts()[0].disable_webhook);
    EXPECT_EQ(attempts()[0].result, attempt_result::dead);
}

TEST_F(worker_test, a_secret_that_does_not_open_is_a_failure_and_nothing_is_sent) {
    schemas::subscriber row = webhook(1);
    row.seal_binding = "another row";
    write_webhook(row);
    start();
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_TRUE(transport.sent().empty());
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::will_retry);
    EXPECT_THAT(attempts()[0].message, HasSubstr("secret"));
}

TEST_F(worker_test, descriptors_that_herald_lacks_itself_are_no_failure_of_the_receiver) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.own_shortage = true}; };
    start();
    for (int event = 0; event < 30; ++event) publish({1});
    scheduler.run_for(1 * minute);
    EXPECT_EQ(gauges().breakers_open, 0u);
    EXPECT_TRUE(attempts().empty()) << "nothing was attempted";
    EXPECT_GT(counters().own_shortages, 30u);
    transport.behave = answers(200);
    scheduler.run_for(6 * second);
    EXPECT_EQ(attempts().size(), 30u);
    for (const schemas::attempt& one : attempts()) EXPECT_EQ(one.number, 1u);
    EXPECT_TRUE(dead().empty());
}

TEST_F(worker_test, a_delivery_too_large_for_a_retry_record_is_dead_without_its_body_and_holds_up_nothing) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    schemas::event large = event_for({1});
    // The event just fits; its delivery, which is larger, does not.
    large.body.assign(limits::record_bytes_max, 'x');
    large.body.resize(2 * limits::record_bytes_max - schemas::encode(large).size() -
                      large.resource_id.size() - 8);
    publish(large);
    publish({1});
    scheduler.run_for(10 * second);
    ASSERT_EQ(dead().size(), 1u);
    EXPECT_EQ(dead()[0].event.id, large.id);
    EXPECT_TRUE(dead()[0].event.body.empty());
    EXPECT_THAT(dead()[0].reason, HasSubstr("too large"));
    EXPECT_EQ(counters().dead, 1u);
    EXPECT_EQ(committed(), 2);
    const auto told = attempts_of(1);
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [&](const schemas::attempt& one) {
        return one.event_id == large.id && one.result == attempt_result::dead;
    }));
}

// ---- the end

TEST_F(worker_test, draining_lets_attempts_end_and_the_rest_waits_for_the_next_worker) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 2 * second}; };
    start();
    for (int event = 0; event < 5; ++event) publish({1});
    scheduler.run_for(200);
    bool drained = false;
    process().mine->drain(limits::drain_ms_max, [&] { drained = true; });
    scheduler.run_for(1 * second);
    EXPECT_FALSE(drained);
    scheduler.run_for(2 * second);
    EXPECT_TRUE(drained);
    EXPECT_EQ(attempts().size(), 1u);
    EXPECT_EQ(all_of<schemas::delivery>("waiting").size(), 4u);
    EXPECT_EQ(committed(), 5);
    EXPECT_TRUE(broker.members("herald-events").empty());
    stop();
    start();
    scheduler.run_for(30 * second);
    EXPECT_EQ(transport.sent().size(), 5u) << "each once";
}

TEST_F(worker_test, draining_ends_after_ten_seconds_whatever_hangs) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 60 * second}; };
    start();
    publish({1});
    scheduler.run_for(200);
    bool drained = false;
    process().mine->drain(limits::drain_ms_max, [&] { drained = true; });
    scheduler.run_for(9 * second);
    EXPECT_FALSE(drained);
    scheduler.run_for(2 * second);
    EXPECT_TRUE(drained);
    EXPECT_EQ(committed(), 0) << "it comes again";
}

}  // namespace
}  // namespace herald::test
