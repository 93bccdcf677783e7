// Protects operators: what a node cannot do, and how far it has come, is reported truthfully.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/limits.hpp"
#include "runtime/metrics.hpp"
#include "schemas/commands/webhooks.hpp"
#include "storage/node/limits.hpp"
#include "tests/support/cluster.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using events::log::memory::batch_fate;
using ::testing::AllOf;
using ::testing::HasSubstr;

// ---- disk

TEST(node_status_test, on_a_full_disk_only_what_makes_room_is_taken) {
    cluster all;
    disk_guard full("/", UINT64_MAX);
    registry_node::options options;
    options.disk = &full;
    machine& a = all.start("a", options);
    EXPECT_TRUE(a.node->ready()) << "heartbeats go through";
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
    schemas::commands::delete_webhooks gone;
    gone.ids = {schemas::webhook_id{9}};
    EXPECT_EQ(all.submit(a, gone)->outcome().code, static_cast<std::uint32_t>(error_code::not_found));
    EXPECT_EQ(a.node->state_now().writes_refused->reason, "disk_low");
    EXPECT_THAT(metrics_of(a), HasSubstr("\nherald_writes_refused 1\n"));
    EXPECT_EQ(a.trouble(), "") << "deletes and scan reports must arrive";
    EXPECT_GT(runtime::metric_gauge(runtime::metrics::disk_free).value(), 0);
    a.node.reset();
}

// ---- trouble is told

TEST(node_status_test,
     a_node_that_is_not_heard_for_eight_seconds_is_not_ready_refuses_writes_and_comes_back) {
    cluster all;
    machine& a = all.start("a");
    EXPECT_EQ(a.trouble(), "");
    a.faults.fates.assign(1'000, batch_fate::not_sent);
    all.scheduler.run_for(limits::unheard_ms_max - 2 * limits::heartbeat_interval_ms);
    EXPECT_EQ(a.trouble(), "");
    all.scheduler.run_for(2 * limits::heartbeat_interval_ms + 1'000);
    EXPECT_EQ(a.trouble(), "log_unreachable");
    EXPECT_TRUE(a.node->ready()) << "it still answers what it can";
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
    EXPECT_EQ(all.create_model(a, "m", "key")->failure(), error_code::unavailable);
    a.faults.fates.clear();
    all.scheduler.run_for(limits::heartbeat_interval_ms);
    EXPECT_EQ(a.trouble(), "");
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
}

TEST(node_status_test, reads_stay_in_service_without_the_log_until_the_grace_is_over) {
    cluster all;
    machine& a = all.start("a");
    EXPECT_FALSE(a.node->state_now().reads_refused);
    a.faults.fates.assign(10'000, batch_fate::not_sent);
    all.scheduler.run_for(limits::unheard_ms_max + 2 * limits::heartbeat_interval_ms);
    EXPECT_EQ(a.trouble(), "log_unreachable");
    EXPECT_FALSE(a.node->state_now().reads_refused)
        << "all nodes are cut off at once: none may be taken away";
    all.scheduler.run_for(limits::isolation_grace_ms_default);
    ASSERT_TRUE(a.node->state_now().reads_refused);
    EXPECT_EQ(a.node->state_now().reads_refused->reason, "log_unreachable");
    a.faults.fates.clear();
    all.scheduler.run_for(2 * limits::heartbeat_interval_ms);
    EXPECT_FALSE(a.node->state_now().reads_refused);
    a.node->drain([] {});
    EXPECT_EQ(a.node->state_now().reads_refused->reason, "draining");
    all.scheduler.run_for(limits::drain_commands_ms_max);
}

TEST(node_status_test, a_standalone_node_needs_no_heartbeat_to_be_ready) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    all.scheduler.run_for(limits::heartbeat_interval_standalone_ms - 1'000);
    EXPECT_EQ(a.trouble(), "");
}

TEST(node_status_test, a_node_that_starts_or_drains_says_so) {
    cluster all;
    machine& a = all.machines["a"];
    a.faults.is_reachable = false;
    all.start("a");
    EXPECT_EQ(a.trouble(), "starting");
    a.faults.is_reachable = true;
    all.scheduler.run_for(1'000);
    EXPECT_EQ(a.trouble(), "");
    a.node->drain([] {});
    EXPECT_EQ(a.trouble(), "draining");
    all.scheduler.run_for(limits::drain_commands_ms_max);
}

/// Takes no writes while the test says so.
class stuck_store final : public state_store {
  public:
    result<void> write(const row_changes& changes) override {
        if (is_stuck) return runtime::unavailable("the disk is full");
        return x_to->write(changes);
    }
    std::shared_ptr<const state_view> view() const override { return x_to->view(); }

    bool is_stuck = false;

  private:
    const std::unique_ptr<state_store> x_to = make_memory_state();
};

TEST(node_status_test, a_state_that_cannot_be_written_is_told_and_shows_as_lag) {
    cluster all;
    machine& a = all.machines["a"];
    auto mine = std::make_unique<stuck_store>();
    stuck_store& store = *mine;
    a.store = std::move(mine);
    all.start("a");
    EXPECT_EQ(a.node->state_now().lag_records, 0u);
    store.is_stuck = true;
    all.create_model(a, "m");
    EXPECT_EQ(a.trouble(), "state_not_written");
    EXPECT_EQ(a.node->state_now().lag_records, 1u);
    EXPECT_THAT(metrics_of(a), HasSubstr("\nherald_apply_lag_records 1\n"));
    all.scheduler.run_for(3'000);
    EXPECT_GT(a.node->state_now().lag_records, 1u);
    EXPECT_EQ(all.create_model(a, "n")->failure(), error_code::unavailable);
    store.is_stuck = false;
    all.scheduler.run_for(1'000);
    EXPECT_EQ(a.trouble(), "");
    EXPECT_EQ(a.node->state_now().lag_records, 0u);
}

TEST(node_status_test, a_node_that_catches_up_shows_how_far_it_is_behind) {
    cluster all;
    machine& a = all.start("a");
    for (int i = 0; i < 20; ++i) all.create_model(a, "m" + std::to_string(i));
    machine& b = all.machines["b"];
    auto mine = std::make_unique<stuck_store>();
    mine->is_stuck = true;
    stuck_store& store = *mine;
    b.store = std::move(mine);
    all.start("b");
    all.scheduler.run_for(1'000);
    EXPECT_EQ(b.trouble(), "starting");
    EXPECT_GE(b.node->state_now().lag_records, 20u);
    store.is_stuck = false;
    all.scheduler.run_for(3'000);
    EXPECT_EQ(b.node->state_now().lag_records, 0u);
}

TEST(node_status_test, the_log_s_growth_is_shown) {
    cluster all;
    machine& a = all.start("a");
    const registry_node::status before = a.node->state_now();
    all.create_model(a, std::string(200, 'm'));
    const registry_node::status after = a.node->state_now();
    EXPECT_EQ(after.next_offset, before.next_offset + 1);
    EXPECT_GT(after.log_bytes, before.log_bytes + 200);
    std::uint64_t bytes = 0;
    for (const events::log::record& each : all.broker->records(commands_partition))
        bytes += each.key.size() + each.value->size();
    EXPECT_EQ(after.log_bytes, bytes);
    EXPECT_THAT(metrics_of(a), AllOf(HasSubstr("\nherald_log_bytes " + std::to_string(bytes) + "\n"),
                                     HasSubstr("\nherald_log_offset " + std::to_string(after.next_offset))));
}

/// Each of the first writes takes a second.
class slow_store final : public state_store {
  public:
    explicit slow_store(runtime::manual_clock& clock) : x_clock(clock) {}
    result<void> write(const row_changes& changes) override {
        if (slow_writes-- > 0) x_clock.advance_ms(1'000);
        return x_to->write(changes);
    }
    std::shared_ptr<const state_view> view() const override { return x_to->view(); }

    int slow_writes = 10;

  private:
    runtime::manual_clock& x_clock;
    const std::unique_ptr<state_store> x_to = make_memory_state();
};

TEST(node_status_test, how_long_a_replay_takes_is_told_by_the_last_one) {
    cluster all;
    machine& a = all.start("a");
    all.scheduler.run_for(10'500 * limits::heartbeat_interval_ms);
    EXPECT_THAT(metrics_of(a), HasSubstr("\nherald_replay_seconds 0\n")) << "as fast as is assumed";
    machine& b = all.machines["b"];
    b.store = std::make_unique<slow_store>(all.scheduler.clock());
    all.start("b");
    all.scheduler.run_for(5'000);
    EXPECT_EQ(b.trouble(), "");
    EXPECT_GE(b.node->state_now().replay_ms, 9'500);
    EXPECT_LE(b.node->state_now().replay_ms, 12'000);
    const std::int64_t seconds = b.node->state_now().replay_ms / 1'000;
    EXPECT_THAT(metrics_of(b), HasSubstr("\nherald_replay_seconds " + std::to_string(seconds) + "\n"));
}

TEST(node_status_test, events_that_are_not_published_are_counted_and_aged) {
    cluster all;
    machine& a = all.start("a");
    all.scheduler.run_for(3'000);
    EXPECT_EQ(runtime::metric_gauge(runtime::metrics::claim, {{"name", "publisher"}}).value(), 1);
    schemas::commands::create_webhook hook;
    hook.settings.name = "all";
    hook.settings.location = "https://example.org/hook";
    hook.settings.all_events = true;
    hook.workspace_id = schemas::workspace_id{1};
    ASSERT_EQ(all.submit(a, hook)->outcome().code, 0u);
    all.scheduler.run_for(3'000);
    a.faults.fate_of_events = batch_fate::rejected;
    all.create_model(a, "m");
    all.create_model(a, "n");
    all.scheduler.run_for(20'000);
    EXPECT_EQ(a.node->state_now().outbox_rows, 2u);
    EXPECT_GE(a.node->state_now().outbox_oldest_ms, 17'000);
    EXPECT_LE(a.node->state_now().outbox_oldest_ms, 21'000);
    EXPECT_THAT(metrics_of(a),
                AllOf(HasSubstr("\nherald_outbox_rows 2\n"), HasSubstr("\nherald_outbox_oldest_seconds ")));
    a.faults.fate_of_events = batch_fate::accepted;
    all.scheduler.run_for(10'000);
    EXPECT_EQ(a.node->state_now().outbox_rows, 0u);
    EXPECT_EQ(a.node->state_now().outbox_oldest_ms, 0);
    a.node->drain([] {});
    all.scheduler.run_for(limits::drain_commands_ms_max);
    EXPECT_EQ(runtime::metric_gauge(runtime::metrics::claim, {{"name", "publisher"}}).value(), 0);
}

TEST(node_status_test, metrics_say_what_readyz_says) {
    node_metrics shown;
    registry_node::status now;
    now.not_ready = runtime::trouble{runtime::not_ready_reason::log_unreachable, "…"};
    now.writes_refused = now.not_ready;
    now.lag_records = 7;
    now.outbox_oldest_ms = 12'500;
    const auto beside = runtime::trouble{runtime::not_ready_reason::models_loading, "…"};
    shown.show(now, beside);
    const auto shows = [](const std::string& line) {
        return runtime::metrics_text().find("\n" + line + "\n") != std::string::npos;
    };
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"log_unreachable\"} 1"));
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"hashes_tied\"} 0"));
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"models_loading\"} 0"));
    EXPECT_TRUE(shows("herald_log_reachable{process=\"api\"} 0"));
    EXPECT_TRUE(shows("herald_writes_refused 1"));
    EXPECT_TRUE(shows("herald_apply_lag_records 7"));
    EXPECT_TRUE(shows("herald_outbox_oldest_seconds 12"));
    shown.show(registry_node::status(), beside);
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"models_loading\"} 1"));
    shown.show(registry_node::status(), std::nullopt);
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"models_loading\"} 0"));
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"log_unreachable\"} 0"));
    EXPECT_TRUE(shows("herald_log_reachable{process=\"api\"} 1"));
    EXPECT_TRUE(shows("herald_writes_refused 0"));
}

}  // namespace
}  // namespace herald::test
