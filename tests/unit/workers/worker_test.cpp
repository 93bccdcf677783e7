// Protects P3 and P4 over the whole worker: every delivery ends as done, retried or dead, whatever receivers,
// log and groups do, and no receiver delays another.
#include "workers/worker.hpp"
#include "events/log/limits.hpp"
#include "runtime/limits.hpp"
#include "workers/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/workers/worker_world.hpp"
#include "workers/fan_out.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using schemas::delivery_source;
using testing::HasSubstr;

struct worker_test : testing::Test, worker_world {};

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
        EXPECT_EQ(sent[0].headers.at("webhook-id"), delivery_id(event.id, {id}));
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
    EXPECT_EQ(dead()[0].id, delivery_id(event.id, {1}));
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
        EXPECT_EQ(sent[attempt].headers.at("webhook-id"), delivery_id(event.id, {1}));
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

// ---- parking and breaker

TEST_F(worker_test, retry_after_parks_the_whole_webhook_and_no_other) {
    write_webhooks(1, 2);
    bool overloaded = true;
    transport.behave = [&](const sent_request& request) {
        if (overloaded && request.webhook_id.value == 1)
            return receiver_behaviour{.status = 429, .headers = {{"retry-after", "600"}}};
        return receiver_behaviour{};
    };
    start();
    publish({1, 2});
    scheduler.run_for(1 * second);
    for (int event = 0; event < 20; ++event) publish({1, 2});
    overloaded = false;
    scheduler.run_for(600 * second - 3 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u) << "nothing before its time";
    EXPECT_EQ(transport.sent_to({2}).size(), 21u);
    EXPECT_EQ(committed(), 21) << "what is parked waits in the retry topics";
    scheduler.run_for(120 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 22u);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, a_retry_after_that_asks_for_nothing_opens_the_breaker_like_any_failure) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "0"}}};
    };
    start();
    for (int event = 0; event < 40; ++event) publish({1});
    scheduler.run_for(3 * second);
    EXPECT_EQ(gauges().breakers_open, 1u);
    EXPECT_EQ(transport.sent().size(), 10u);
}

TEST_F(worker_test, a_parked_webhook_stays_parked_after_a_restart) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "3600"}}};
    };
    start();
    publish({1});
    scheduler.run_for(1 * second);
    stop();
    start();
    scheduler.run_for(59 * minute);
    EXPECT_EQ(transport.sent().size(), 1u);
    scheduler.run_for(2 * minute);
    EXPECT_EQ(transport.sent().size(), 2u);
}

TEST_F(worker_test, a_new_worker_learns_from_a_retry_record_that_the_webhook_is_parked) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "120"}}};
    };
    start();
    publish({1});
    scheduler.run_for(1 * second);
    stop();
    start();
    scheduler.run_for(31 * second);  // the wait is made of hops of 30 s
    publish({1});
    scheduler.run_for(80 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    transport.behave = answers(200);
    scheduler.run_for(60 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
}

TEST_F(worker_test, an_open_breaker_sends_deliveries_on_without_using_up_an_attempt) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int event = 0; event < 30; ++event) {
        publish({1});
        scheduler.run_for(100);
    }
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 10u);
    EXPECT_EQ(gauges().breakers_open, 1u);
    EXPECT_EQ(counters().spilled, 20u);
    EXPECT_EQ(committed(), 30);
    scheduler.run_for(10 * second);
    EXPECT_GE(all_of<schemas::delivery>("retry.30s").size(), 20u) << "until it may be probed";
    transport.behave = answers(200);
    scheduler.run_for(3 * hour);
    EXPECT_EQ(gauges().breakers_open, 0u);
    std::set<std::string> delivered;
    for (const schemas::attempt& one : attempts()) {
        if (one.result != attempt_result::succeeded) continue;
        EXPECT_LE(one.number, 2u) << "a spill uses up no attempt";
        delivered.insert(one.delivery_id);
    }
    EXPECT_EQ(delivered.size(), 30u);
    EXPECT_TRUE(dead().empty());
}

TEST_F(worker_test, what_a_breaker_put_off_flows_as_soon_as_it_closes) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int event = 0; event < 600; ++event) {  // ten minutes
        publish({1});
        scheduler.run_for(1 * second);
    }
    ASSERT_EQ(gauges().breakers_open, 1u);
    transport.behave = answers(200);
    const std::size_t before = transport.sent().size();
    while (transport.sent().size() == before) scheduler.run_for(1 * second);  // the probe
    scheduler.run_for(15 * second);
    std::set<std::string> never_failed;
    std::set<std::string> delivered;
    for (const schemas::attempt& one : attempts()) {
        if (one.result == attempt_result::succeeded) delivered.insert(one.delivery_id);
        if (one.result == attempt_result::will_retry) never_failed.insert(one.delivery_id);
    }
    EXPECT_GE(delivered.size(), 600 - never_failed.size()) << "those that failed keep their schedule";
    EXPECT_LT(never_failed.size(), 30u);
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

// ---- P4

TEST_F(worker_test, a_hanging_receiver_delays_nobody_else) {
    write_webhooks(1, 40);
    transport.behave = [](const sent_request& request) {
        const bool hangs = request.webhook_id.value > 1;
        return receiver_behaviour{.takes_ms = hangs ? 60 * second : 5};
    };
    start();
    std::vector<std::uint64_t> everybody;
    for (std::uint64_t id = 1; id <= 40; ++id) everybody.push_back(id);
    for (int event = 0; event < 300; ++event) {
        const std::size_t before = transport.sent_to({1}).size();
        publish(everybody);
        scheduler.run_for(100);
        ASSERT_EQ(transport.sent_to({1}).size(), before + 1) << "event " << event;
    }
    scheduler.run_for(20 * second);
    EXPECT_EQ(committed(), 300) << "what hangs leaves memory within seconds";
    EXPECT_LE(transport.running_max, 512);
}

TEST_F(worker_test, more_hanging_receivers_than_slots_delay_nobody_for_longer_than_it_takes_to_notice) {
    write_webhooks(1, 600);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.webhook_id.value > 1 ? 60 * second : 5};
    };
    start();
    std::vector<std::uint64_t> hanging;
    for (std::uint64_t id = 2; id <= 600; ++id) hanging.push_back(id);
    publish(hanging);
    scheduler.run_for(limits::slow_attempt_ms + second);
    publish({1});
    scheduler.run_for(100);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u);
}

TEST_F(worker_test, ten_thousand_deliveries_to_a_dead_receiver_leave_memory_within_seconds) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 60 * second}; };
    start();
    for (int event = 0; event < 10'000; ++event) publish({1});
    scheduler.run_for(20 * second);
    EXPECT_EQ(committed(), 10'000);
    EXPECT_LE(gauges().deliveries_in_memory, limits::lane_depth_min + limits::lane_concurrency_max);
}

TEST_F(worker_test, large_events_for_hanging_receivers_stay_within_the_memory_bound_and_delay_nobody) {
    write_webhooks(1, 21);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.webhook_id.value == 1 ? 5 : 60 * second};
    };
    start();
    for (int event = 0; event < 200; ++event) {
        schemas::event large = event_for({2 + std::uint64_t(event) % 20});
        large.body.assign(1024 * 1024, 'x');
        publish(large);
    }
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u);
    scheduler.run_for(30 * second);
    EXPECT_EQ(committed(), 201);
}

TEST_F(worker_test, a_webhook_with_too_many_deliveries_waiting_gets_no_more_and_they_are_kept_as_dead) {
    options.retry_backlog_max = 50;
    write_webhooks(1, 2);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.status = std::uint16_t(request.webhook_id.value == 1 ? 500 : 200)};
    };
    start();
    for (int event = 0; event < 80; ++event) publish({1, 2});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({2}).size(), 80u);
    const auto kept = dead();
    ASSERT_EQ(kept.size(), 30u);
    EXPECT_THAT(kept[0].reason, HasSubstr("too many"));
    EXPECT_EQ(kept[0].webhook_id.value, 1u);
    std::size_t never_attempted = 0;
    for (const schemas::attempt& one : attempts_of(1))
        if (one.result == attempt_result::dead && one.number == 0) ++never_attempted;
    EXPECT_GE(never_attempted, 29u) << "the breaker opened after ten attempts";
    EXPECT_EQ(committed(), 80);
}

// ---- the table of subscribers

TEST_F(worker_test, an_unknown_webhook_waits_for_the_table_alone) {
    write_webhooks(1, 1);
    start();
    publish({9, 1});
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 2u) << "others go on";
    EXPECT_EQ(committed(), 0) << "the first event is not done";
    EXPECT_EQ(gauges().waiting_for_row, 1u);
    write_webhook(webhook(9, 50));
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({9}).size(), 1u);
    EXPECT_EQ(committed(), 2);
    EXPECT_EQ(gauges().waiting_for_row, 0u);
}

TEST_F(worker_test, an_unknown_webhook_that_stays_so_goes_to_a_retry_topic_and_waits_there) {
    start();
    publish({9});
    scheduler.run_for(10 * second);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(all_of<schemas::delivery>("retry.5s").size(), 1u);
    write_webhook(webhook(9, 50));
    scheduler.run_for(1 * minute);
    EXPECT_EQ(transport.sent_to({9}).size(), 1u);
}

TEST_F(worker_test, an_unknown_webhook_was_deleted_when_the_head_is_past_the_event) {
    start();
    write_head(100);
    publish({9});
    scheduler.run_for(1 * second);
    EXPECT_EQ(committed(), 1);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::skipped);
    EXPECT_TRUE(transport.sent().empty());
}

TEST_F(worker_test, an_attempt_waits_until_the_table_has_the_revision_that_was_seen_before) {
    write_webhook(webhook(1, 10));
    start();
    schemas::delivery seen = direct(1, delivery_source::resend);
    seen.revision_seen = 20;
    write_direct(seen);
    scheduler.run_for(2 * second);
    EXPECT_TRUE(transport.sent().empty());
    write_webhook(webhook(1, 20));
    scheduler.run_for(100);
    ASSERT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(transport.sent()[0].location, "https://receiver-1.example/20");
}

TEST_F(worker_test, without_contact_to_the_table_for_thirty_seconds_no_attempt_starts) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    publish({1});
    scheduler.run_for(2 * second);  // the second attempt is due in memory soon
    ASSERT_EQ(transport.sent().size(), 1u);
    schemas::subscriber moved = webhook(1, 50);
    faults.cut_off = true;
    scheduler.run_for(40 * second);
    const std::size_t before = transport.sent().size();
    write_webhook(moved);
    scheduler.run_for(10 * minute);
    EXPECT_EQ(transport.sent().size(), before);
    faults.cut_off = false;
    scheduler.run_for(1 * minute);
    ASSERT_GT(transport.sent().size(), before);
    EXPECT_EQ(transport.sent()[before].location, "https://receiver-1.example/50");
}

TEST_F(worker_test, an_attempt_that_is_due_just_after_those_thirty_seconds_does_not_start) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    scheduler.run_for(300);
    publish({1});
    scheduler.run_for(5'100);  // the second attempt has failed; the third is due in 30 s, between two ticks
    ASSERT_EQ(transport.sent().size(), 2u);
    faults.cut_off = true;
    scheduler.run_for(10 * minute);
    EXPECT_EQ(transport.sent().size(), 2u);
    faults.cut_off = false;
    scheduler.run_for(2 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
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
