// Protects P1 and P5: a node's answer is what the log made of the command, once, on every node, and all nodes
// have the same state (design.md §1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/metrics.hpp"
#include "schemas/commands/limits.hpp"
#include "schemas/commands/nodes.hpp"
#include "schemas/commands/webhooks.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node_metrics.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/support/cluster.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using events::log::memory::batch_fate;

TEST(node_test, a_node_serves_only_after_its_own_first_heartbeat_is_applied) {
    cluster all;
    machine& a = all.machines["a"];
    a.faults.fates = {batch_fate::swallowed};
    all.start("a");
    EXPECT_FALSE(a.node->ready());
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
    all.kill(a);
    all.start("a");
    EXPECT_TRUE(a.node->ready());
    EXPECT_EQ(all.commands(schemas::commands::node_heartbeat::type).size(), 1u);
}

TEST(node_test, the_answer_comes_once_the_command_is_applied_and_can_be_read) {
    cluster all;
    machine& a = all.start("a");
    const auto answered = all.create_model(a, "m");
    ASSERT_TRUE(answered->is_there());
    EXPECT_EQ(answered->outcome().code, 0u);
    const auto got = all.read(a);
    ASSERT_EQ(got->size(), 1u);
    ASSERT_TRUE(got->front());
    EXPECT_GE(got->front()->offset, answered->outcome().offset);
    EXPECT_EQ(got->front()->generation, 1u);
    EXPECT_EQ(cluster::models(*got->front()->view), 1u);
}

TEST(node_test, a_refusal_of_apply_is_an_outcome) {
    cluster all;
    machine& a = all.start("a");
    all.create_model(a, "m");
    EXPECT_EQ(all.create_model(a, "m")->outcome().code,
              static_cast<std::uint32_t>(error_code::already_exists));
}

TEST(node_test, two_nodes_on_one_log_reach_the_same_offset_and_hash) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    for (int i = 0; i < 20; ++i) all.create_model(i % 2 ? a : b, "m" + std::to_string(i));
    EXPECT_EQ(a.next_offset(), b.next_offset());
    EXPECT_EQ(a.hash(), b.hash());
    EXPECT_FALSE(a.hash().empty());
}

TEST(node_test, a_repeat_with_the_same_key_through_another_node_gets_the_same_answer) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    const auto first = all.create_model(a, "m", "key")->outcome();
    const auto second = all.create_model(b, "m", "key")->outcome();
    EXPECT_EQ(first.code, 0u);
    EXPECT_EQ(schemas::encode(first), schemas::encode(second));
    EXPECT_EQ(cluster::models(*b.store->view()), 1u);
}

TEST(node_test, a_state_that_lost_its_newest_writes_is_brought_forward_from_the_log) {
    cluster all;
    machine& a = all.start("a");
    all.create_model(a, "early");
    row_changes undo;  // what a crash leaves: rows and position from a moment before
    const auto before = a.store->view();
    all.create_model(a, "late");
    const std::string hash = a.hash();
    const std::uint64_t next = a.next_offset();
    all.kill(a);
    a.store->view()->scan({}, {}, [&](std::string_view key, std::string_view) {
        undo[std::string(key)] = before->get(key);
        return true;
    });
    ASSERT_TRUE(a.store->write(undo));
    machine& reference = all.start("b");
    all.start("a");
    EXPECT_EQ(cluster::models(*a.store->view()), 2u);
    EXPECT_EQ(a.hash(), reference.hash());
    EXPECT_GT(a.next_offset(), next);
    EXPECT_NE(a.hash(), hash) << "the heartbeats since then count";
}

// ---- the log behaves badly

TEST(node_test, a_lost_answer_of_the_log_is_no_lost_answer_of_the_node) {
    cluster all;
    machine& a = all.start("a");
    a.faults.fates = {batch_fate::answer_lost};
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
}

TEST(node_test, with_a_key_the_same_bytes_are_appended_until_the_outcome_is_known) {
    cluster all;
    machine& a = all.start("a");
    a.faults.fates = {batch_fate::rejected, batch_fate::rejected};
    const auto answered = all.create_model(a, "m", "key");
    EXPECT_FALSE(answered->is_there());
    all.scheduler.run_for(5'000);
    EXPECT_EQ(answered->outcome().code, 0u);
}

TEST(node_test, a_copy_that_lands_late_has_no_second_effect) {
    cluster all;
    machine& a = all.start("a");
    a.faults.fates = {batch_fate::held};
    const auto answered = all.create_model(a, "m", "key");
    all.scheduler.run_for(5'000);
    EXPECT_EQ(answered->outcome().code, 0u);
    ASSERT_EQ(all.broker->held(), 1u);
    all.broker->release(0);
    all.scheduler.run_for(100);
    const auto copies = all.commands(schemas::commands::create_model::type);
    ASSERT_EQ(copies.size(), 2u);
    EXPECT_EQ(schemas::encode(copies[0]), schemas::encode(copies[1]));
    EXPECT_EQ(cluster::models(*a.store->view()), 1u);
}

TEST(node_test, without_a_key_an_append_of_unknown_outcome_is_never_repeated) {
    cluster all;
    machine& a = all.start("a");
    a.faults.fates = {batch_fate::held};
    const auto answered = all.create_model(a, "m");
    all.scheduler.run_for(limits::outcome_wait_ms_max - 1'000);
    EXPECT_FALSE(answered->is_there());
    EXPECT_EQ(all.commands(schemas::commands::create_model::type).size(), 0u);
    all.broker->release(0);
    all.scheduler.settle();
    EXPECT_EQ(answered->outcome().code, 0u);
}

TEST(node_test, a_command_that_was_never_sent_is_unavailable_at_once_and_not_of_unknown_outcome) {
    cluster all;
    machine& a = all.start("a");
    a.faults.fates = {batch_fate::not_sent};
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
    a.faults.fates = {batch_fate::not_sent};
    EXPECT_EQ(all.create_model(a, "m", "key")->failure(), error_code::unavailable);
    EXPECT_EQ(all.create_model(a, "m", "key")->outcome().code, 0u);
}

TEST(node_test, an_outcome_that_stays_unknown_is_said_to_be_so) {
    cluster all;
    machine& a = all.start("a");
    a.faults.is_reachable = false;
    runtime::counter& counted = runtime::metric_counter(runtime::metrics::outcomes_unknown);
    const std::uint64_t before = counted.value();
    const auto plain = all.create_model(a, "m");
    const auto keyed = all.create_model(a, "n", "key");
    all.scheduler.run_for(limits::outcome_wait_ms_max + 1'000);
    EXPECT_EQ(plain->failure(), error_code::internal);
    EXPECT_EQ(keyed->failure(), error_code::unavailable);
    EXPECT_GE(counted.value(), before + 2) << "heartbeats may be among them";
    EXPECT_EQ(a.node->state_now().commands_in_flight, 0u);
}

TEST(node_test, a_command_after_a_long_silence_is_stamped_anew_and_taken) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    all.scheduler.clock().jump_wall_ms(3'600'000);
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
    EXPECT_EQ(all.commands(schemas::commands::create_model::type).size(), 2u);
}

TEST(node_test, late_copies_of_a_command_that_was_stamped_anew_do_not_make_it_refused) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    a.faults.fates.assign(4, batch_fate::held);
    const auto answered = all.create_model(a, "m", "key");
    while (all.broker->held() < 4) all.scheduler.run_for(10);
    all.scheduler.clock().jump_wall_ms(3'600'000);
    a.faults.fates.clear();
    EXPECT_EQ(all.create_model(a, "other")->outcome().code, 0u);  // now the log's time is an hour later
    a.faults.fates = {batch_fate::held};
    for (int copy = 0; copy < 4; ++copy) {
        all.broker->release(0);
        all.scheduler.settle();
    }
    EXPECT_FALSE(answered->is_there()) << "none of them was in time";
    ASSERT_EQ(all.broker->held(), 1u) << "but the one that is stamped anew may be";
    all.broker->release(0);
    all.scheduler.settle();
    EXPECT_EQ(answered->outcome().code, 0u);
}

TEST(node_test, commands_in_flight_are_bounded_but_not_the_node_s_own) {
    cluster all;
    machine& a = all.start("a");
    std::vector<std::shared_ptr<answer>> waiting;
    a.faults.is_reachable = false;
    for (std::size_t i = 0; i < limits::commands_in_flight_max; ++i) {
        const auto one = all.create_model(a, "m" + std::to_string(i));
        if (one->is_there()) {
            EXPECT_EQ(one->failure(), error_code::unavailable);
            break;
        }
        waiting.push_back(one);
    }
    EXPECT_LT(waiting.size(), limits::commands_in_flight_max);
    EXPECT_GT(waiting.size(), limits::commands_in_flight_max / 2);
    a.faults.is_reachable = true;
    all.scheduler.run_for(5'000);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_GE(all.commands(schemas::commands::node_heartbeat::type).size(), 2u);
}

TEST(node_test, a_command_that_is_too_large_is_refused_at_once) {
    cluster all;
    machine& a = all.start("a");
    EXPECT_EQ(all.create_model(a, std::string(limits::command_bytes_max, 'x'))->failure(),
              error_code::invalid_argument);
}

// ---- claims

TEST(node_test, one_node_publishes_and_another_takes_over_when_it_falls_silent) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    all.scheduler.run_for(1'000);
    ASSERT_TRUE(cluster::claim(b, "publisher"));
    EXPECT_EQ(cluster::claim(b, "publisher")->node, "a");
    all.kill(a);
    all.scheduler.run_for(limits::claim_lapse_ms - 1'000);
    EXPECT_EQ(cluster::claim(b, "publisher")->node, "a");
    all.scheduler.run_for(5'000);
    EXPECT_EQ(cluster::claim(b, "publisher")->node, "b");

    schemas::commands::create_webhook hook;
    hook.settings.name = "h";
    hook.settings.location = "https://receiver.example/";
    hook.settings.all_events = true;
    ASSERT_EQ(all.submit(b, hook)->outcome().code, 0u);
    all.create_model(b, "m");
    all.scheduler.run_for(100);
    std::size_t published = 0;
    for (std::int32_t p = 0; p < events::log::partitions_default; ++p)
        published += all.broker->records({std::string(events::log::topic::resource), p}).size();
    EXPECT_EQ(published, 1u);
    EXPECT_FALSE(all.broker->records({std::string(events::log::topic::subscribers), 0}).empty());
}

TEST(node_test, a_node_that_drains_hands_its_claims_over_at_once) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    all.scheduler.run_for(3'000);
    ASSERT_EQ(cluster::claim(b, "publisher")->node, "a");
    bool is_done = false;
    a.node->drain([&] { is_done = true; });
    all.scheduler.run_for(2'000);
    EXPECT_TRUE(is_done);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_EQ(cluster::claim(b, "publisher")->node, "b");
    all.kill(a);
    all.start("a");
    all.scheduler.run_for(50);
    EXPECT_TRUE(a.node->ready()) << "it may come back under its name";
}

TEST(node_test, a_command_in_flight_when_the_node_drains_is_answered) {
    cluster all;
    machine& a = all.start("a");
    a.faults.is_reachable = false;
    const auto keyed = all.create_model(a, "m", "key");
    const auto plain = all.create_model(a, "n");
    bool is_done = false;
    a.node->drain([&] { is_done = true; });
    all.scheduler.run_for(limits::drain_commands_ms_max + 100);
    EXPECT_TRUE(is_done);
    EXPECT_EQ(keyed->failure(), error_code::unavailable);
    EXPECT_EQ(plain->failure(), error_code::internal) << "its outcome is unknown";
}

TEST(node_test, a_drain_without_the_log_does_not_wait_long_for_the_farewell) {
    cluster all;
    machine& a = all.start("a");
    a.faults.is_reachable = false;
    bool is_done = false;
    a.node->drain([&] { is_done = true; });
    all.scheduler.run_for(2'000);
    EXPECT_TRUE(is_done);
}

struct noted_job final : claimed_job {
    void start(std::uint64_t token) override { tokens.push_back(token); }
    void stop() override { tokens.push_back(0); }
    bool is_able() const override { return can_do_it; }
    std::vector<std::uint64_t> tokens;
    bool can_do_it = true;
};

TEST(node_test, a_job_runs_under_the_token_of_the_claim_and_ends_with_the_node) {
    cluster all(node_kind::standalone);
    const auto job = std::make_shared<noted_job>();
    machine on;
    on.log = std::make_unique<events::log::memory::memory_log>(
        *all.broker, [&](std::function<void()> task) { all.scheduler.post(std::move(task)); });
    registry_node::options options;
    options.name = "a";
    options.has_thread = false;
    on.node = make_node(options, {*on.log, *on.store, all.scheduler, all.random});
    on.node->add_job(schemas::job::webhook_health, job);
    on.node->start();
    all.scheduler.run_for(1'000);
    ASSERT_EQ(job->tokens.size(), 1u);
    EXPECT_EQ(job->tokens[0], cluster::claim(on, "webhook-health")->token);
    bool is_done = false;
    on.node->drain([&] { is_done = true; });
    EXPECT_EQ(all.create_model(on, "m")->failure(), error_code::unavailable);
    all.scheduler.run_for(100);
    EXPECT_TRUE(is_done);
    ASSERT_EQ(job->tokens.size(), 2u);
    EXPECT_EQ(job->tokens[1], 0u);
}

TEST(node_test, a_job_that_cannot_be_done_here_is_done_by_another_node) {
    cluster all;
    const auto of_a = std::make_shared<noted_job>(), of_b = std::make_shared<noted_job>();
    machine& a = all.start("a", {}, {{schemas::job::builder, of_a}});
    all.start("b", {}, {{schemas::job::builder, of_b}});
    const auto holder = [&] {
        const auto held = cluster::claim(a, "builder");
        return held ? held->node : "nobody";
    };
    all.scheduler.run_for(3'000);
    ASSERT_NE(holder(), "nobody");
    noted_job& first = holder() == "a" ? *of_a : *of_b;
    noted_job& second = holder() == "a" ? *of_b : *of_a;
    const std::string other = holder() == "a" ? "b" : "a";
    first.can_do_it = false;
    all.scheduler.run_for(3'000);
    EXPECT_EQ(holder(), other);
    EXPECT_EQ(first.tokens.size(), 2u);
    EXPECT_EQ(first.tokens.back(), 0u) << "it was stopped";
    ASSERT_EQ(second.tokens.size(), 1u);
    second.can_do_it = false;
    all.scheduler.run_for(3'000);
    EXPECT_EQ(holder(), "nobody") << "neither asks for what it cannot do";
    const std::size_t said = all.commands(schemas::commands::claim::type).size();
    all.scheduler.run_for(60'000);
    EXPECT_EQ(all.commands(schemas::commands::claim::type).size(), said);
    first.can_do_it = true;
    all.scheduler.run_for(3'000);
    EXPECT_NE(holder(), other);
    EXPECT_NE(holder(), "nobody");
    EXPECT_EQ(first.tokens.size(), 3u);
}

// ---- heartbeats

TEST(node_test, who_awaits_a_heartbeat_is_woken_by_the_next_one_and_by_nothing_else) {
    cluster all;
    machine& a = all.start("a");
    all.scheduler.run_for(3'000);
    int woken = 0;
    a.node->after_next_heartbeat([&] { ++woken; });
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
    EXPECT_EQ(woken, 0);
    all.scheduler.run_for(2'500);
    EXPECT_EQ(woken, 1);
    all.scheduler.run_for(10'000);
    EXPECT_EQ(woken, 1);
}

TEST(node_test, a_cluster_node_speaks_every_two_seconds_and_a_standalone_once_a_minute) {
    for (const auto& [kind, expected] : {std::pair{node_kind::cluster, 60}, {node_kind::standalone, 2}}) {
        cluster all(kind);
        all.start("a");
        const std::size_t before = all.commands(schemas::commands::node_heartbeat::type).size();
        all.scheduler.run_for(121'000);
        const std::size_t beats = all.commands(schemas::commands::node_heartbeat::type).size() - before;
        EXPECT_NEAR(static_cast<double>(beats), expected, 1.0);
    }
}

TEST(node_test, a_timer_that_is_due_makes_a_standalone_node_speak) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    const std::size_t before = all.commands(schemas::commands::node_heartbeat::type).size();
    all.scheduler.clock().jump_wall_ms(25ll * 3'600'000);  // the daily trim of the outbox is due
    all.scheduler.run_for(1'000);
    EXPECT_GT(all.commands(schemas::commands::node_heartbeat::type).size(), before);
    EXPECT_LE(all.commands(schemas::commands::node_heartbeat::type).size(), before + 3);
    EXPECT_TRUE(a.failures.empty());
}

}  // namespace
}  // namespace herald::test
