// Protects the disabling of webhooks (design.md §3, delivery.md §3): changes in what receivers answer reach
// the registry at most once a minute, and only from the holder of the claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/commands/builds.hpp"
#include "schemas/commands/scans.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/deliveries/webhook_health_job.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/support/cluster.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::deliveries;
using namespace storage::node;
using namespace storage::registry::tables;

using schemas::attempt_result;
using schemas::commands::command_type;

struct webhook_health_job_test : ::testing::Test {
    void SetUp() override {
        log = std::make_unique<events::log::memory::memory_log>(
            *all.broker, [this](std::function<void()> task) { all.scheduler.post(std::move(task)); });
        registry_node::options options;
        options.name = on.name = "a";
        options.has_thread = false;
        on.node = make_node(options, {*log, *on.store, all.scheduler, all.random});
        job = std::make_shared<webhook_health_job>(*on.node, *on.store, all.scheduler, all.random);
        on.node->add_job(schemas::job::webhook_health, job);
        on.node->start();
        all.scheduler.run_for(1'000);
        schemas::commands::create_webhook command;
        command.settings.name = "h";
        command.settings.location = "https://receiver.example/";
        command.settings.all_events = true;
        ASSERT_EQ(all.submit(on, command)->outcome().code, 0u);
    }
    void TearDown() override { on.node.reset(); }

    schemas::webhook hook() const { return *webhooks::find(*on.store->view(), schemas::webhook_id{1}); }
    schemas::attempt attempt(attempt_result result, std::uint16_t status) const {
        schemas::attempt made;
        made.webhook_id.value = 1;
        made.webhook_revision = hook().revision;
        made.number = 1;
        made.result = result;
        made.status = status;
        made.time_ms = all.scheduler.time().wall_ms();
        return made;
    }
    std::size_t told() const { return all.commands(schemas::commands::webhook_health::type).size(); }
    void observe(const schemas::attempt& made) {
        job->observe(made);
        all.scheduler.run_for(2'000);
    }

    cluster all{node_kind::standalone};
    machine on;
    std::unique_ptr<events::log::memory::memory_log> log;
    std::shared_ptr<webhook_health_job> job;
};

TEST_F(webhook_health_job_test, a_healthy_webhook_is_not_worth_a_word) {
    for (int i = 0; i < 10; ++i) observe(attempt(attempt_result::succeeded, 204));
    EXPECT_EQ(told(), 0u);
}

TEST_F(webhook_health_job_test, failures_are_told_once_and_since_when) {
    const std::int64_t since_ms = all.scheduler.time().wall_ms();
    for (int i = 0; i < 60; ++i) observe(attempt(attempt_result::will_retry, 500));
    EXPECT_EQ(told(), 1u);
    EXPECT_EQ(hook().failing_since_ms, since_ms);
}

TEST_F(webhook_health_job_test, failures_are_counted_until_all_is_told) {
    for (int minutes = 0; minutes < 11; ++minutes) {
        observe(attempt(attempt_result::will_retry, 500));
        all.scheduler.run_for(60'000);
    }
    EXPECT_TRUE(hook().failing_told);
    EXPECT_EQ(told(), 2u) << "that it fails, and that it goes on";
    EXPECT_EQ(hook().disable_at_ms, 0);
    all.scheduler.run_for(12ll * 3'600'000);
    observe(attempt(attempt_result::will_retry, 500));
    EXPECT_NE(hook().disable_at_ms, 0);
    for (int i = 0; i < 10; ++i) observe(attempt(attempt_result::will_retry, 500));
    EXPECT_EQ(told(), 3u);
}

TEST_F(webhook_health_job_test, failures_close_together_are_told_after_ten_minutes_without_another_attempt) {
    for (int i = 0; i < 12; ++i) observe(attempt(attempt_result::will_retry, 500));
    all.scheduler.run_for(9ll * 60'000);
    EXPECT_FALSE(hook().failing_told);
    all.scheduler.run_for(2ll * 60'000);
    EXPECT_TRUE(hook().failing_told);
    EXPECT_EQ(hook().disable_at_ms, 0);
}

TEST_F(webhook_health_job_test, failures_of_webhook_health_itself_count_only_towards_disabling) {
    schemas::attempt of_health = attempt(attempt_result::will_retry, 500);
    of_health.event_type = schemas::event_type::webhook_health;
    for (int minutes = 0; minutes < 20; ++minutes) {
        of_health.time_ms = all.scheduler.time().wall_ms();
        observe(of_health);
        all.scheduler.run_for(60'000);
    }
    EXPECT_NE(hook().failing_since_ms, 0);
    EXPECT_FALSE(hook().failing_told || hook().failing_counts);
    observe(attempt(attempt_result::will_retry, 500));
    EXPECT_TRUE(hook().failing_counts);
}

TEST_F(webhook_health_job_test, a_success_ends_the_failures_but_not_within_the_minute) {
    observe(attempt(attempt_result::will_retry, 500));
    observe(attempt(attempt_result::succeeded, 200));
    EXPECT_EQ(told(), 1u);
    EXPECT_NE(hook().failing_since_ms, 0);
    all.scheduler.run_for(limits::health_report_interval_ms);
    EXPECT_EQ(told(), 2u);
    EXPECT_EQ(hook().failing_since_ms, 0);
}

TEST_F(webhook_health_job_test, a_webhook_that_flaps_costs_one_command_a_minute) {
    for (int i = 0; i < 150; ++i)  // five minutes
        observe(attempt(i % 2 ? attempt_result::succeeded : attempt_result::will_retry, 500));
    EXPECT_LE(told(), 6u);
    EXPECT_GE(told(), 2u);
}

TEST_F(webhook_health_job_test, a_410_disables_at_once_whatever_was_told_before) {
    observe(attempt(attempt_result::will_retry, 500));
    schemas::attempt gone = attempt(attempt_result::dead, 410);
    gone.disable_webhook = true;
    observe(gone);
    EXPECT_EQ(told(), 2u);
    EXPECT_EQ(hook().status, schemas::webhook_status::disabled);
    EXPECT_THAT(hook().status_reason, ::testing::HasSubstr("410"));
}

TEST_F(webhook_health_job_test, tests_retry_after_and_older_revisions_say_nothing) {
    schemas::attempt test = attempt(attempt_result::dead, 500);
    test.source = schemas::delivery_source::test;
    observe(test);
    schemas::attempt parked = attempt(attempt_result::will_retry, 503);
    parked.response_headers = "Retry-After: 60\n";
    observe(parked);
    schemas::attempt unseen = attempt(attempt_result::dead, 0);
    unseen.number = 0;
    observe(unseen);
    schemas::attempt old = attempt(attempt_result::dead, 410);
    old.webhook_revision -= 1;
    old.disable_webhook = true;
    observe(old);
    EXPECT_EQ(told(), 0u);
    EXPECT_EQ(hook().status, schemas::webhook_status::enabled);
}

TEST_F(webhook_health_job_test, without_the_claim_it_waits_and_tells_when_the_claim_comes) {
    job->stop();
    schemas::attempt gone = attempt(attempt_result::dead, 410);
    gone.disable_webhook = true;
    observe(gone);
    EXPECT_EQ(told(), 0u);
    job->start(cluster::claim(on, "webhook-health")->token);
    all.scheduler.run_for(1'000);
    EXPECT_EQ(hook().status, schemas::webhook_status::disabled);
}

struct lost_requests : webhook_health_job_test {
    void SetUp() override {
        webhook_health_job_test::SetUp();
        ASSERT_EQ(all.create_model(on, "m")->outcome().code, 0u);
        schemas::commands::create_version version;
        version.registered_model_id.value = 1;
        version.version.version = "v1";
        ASSERT_EQ(all.submit(on, version)->outcome().code, 0u);
        schemas::commands::create_build build;
        build.workspace_name = "Default";
        build.model_version_id.value = 1;
        build.external_location = "registry.example.org/m:1";
        build.creator_request.text = "{}";
        ASSERT_EQ(all.submit(on, build)->outcome().code, 0u);
        const schemas::commands::request_scan scan{"Default", schemas::build_id{1}, {"{}"}};
        ASSERT_EQ(all.submit(on, scan)->outcome().code, 0u);
    }
    schemas::scan scan() const { return *scans::find(*on.store->view(), schemas::scan_id{1}); }
    schemas::attempt request_attempt(attempt_result result) const {
        schemas::attempt made = attempt(result, 500);
        made.event_type = schemas::event_type::request_scan;
        made.event_id = scan().event_id;
        made.resource_id = "1";
        return made;
    }
    std::size_t told() const { return all.commands(schemas::commands::delivery_ended::type).size(); }
};

TEST_F(lost_requests, for_scans_are_told_once_when_their_delivery_is_over) {
    observe(request_attempt(attempt_result::will_retry));
    EXPECT_EQ(told(), 0u);
    for (int i = 0; i < 3; ++i) observe(request_attempt(attempt_result::dead));
    EXPECT_EQ(told(), 1u);
    EXPECT_THAT(scan().message, ::testing::HasSubstr("webhook 1 dead"));
    all.scheduler.run_for(2 * limits::health_report_interval_ms);
    EXPECT_EQ(told(), 1u);
}

TEST_F(lost_requests, that_were_not_told_before_a_restart_are_found_in_the_history) {
    job->stop();
    const auto kept = request_attempt(attempt_result::held);
    job = std::make_shared<webhook_health_job>(
        *on.node, *on.store, all.scheduler, all.random, [kept](std::string_view event) {
            return event == kept.event_id ? std::vector{kept} : std::vector<schemas::attempt>();
        });
    job->start(cluster::claim(on, "webhook-health")->token);
    all.scheduler.run_for(2'000);
    EXPECT_EQ(told(), 1u);
    EXPECT_THAT(scan().message, ::testing::HasSubstr("webhook 1 held"));
}

}  // namespace
}  // namespace herald::test
