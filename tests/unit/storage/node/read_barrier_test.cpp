// Protects the reads of design.md §1: in a cluster a read sees every write answered before it, on any node,
// or says that it may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/commands/nodes.hpp"
#include "storage/node/limits.hpp"
#include "tests/support/cluster.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;

using schemas::commands::command_type;

TEST(read_barrier_test, a_standalone_read_asks_nobody) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    a.faults.is_reachable = false;
    const auto got = a.node->read_now(storage::node::freshness::newest);
    ASSERT_TRUE(got);
    EXPECT_FALSE(got->stale);
}

TEST(read_barrier_test, a_cluster_read_asks_unless_told_to_read_locally) {
    cluster all;
    EXPECT_FALSE(all.start("a").node->read_now(storage::node::freshness::newest));
    registry_node::options options;
    options.reads = read_mode::local;
    EXPECT_TRUE(all.start("b", options).node->read_now(storage::node::freshness::newest));
}

TEST(read_barrier_test, a_node_that_does_not_serve_answers_no_read) {
    cluster all;
    machine& a = all.machines["a"];
    a.faults.is_reachable = false;
    all.start("a");
    EXPECT_FALSE(a.node->read_now(storage::node::freshness::newest));
    const auto got = all.read(a);
    ASSERT_EQ(got->size(), 1u);
    EXPECT_FALSE(got->front());
}

TEST(read_barrier_test, a_read_on_another_node_waits_until_the_write_is_applied_there) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    std::optional<registry_node::reading> seen;
    schemas::commands::create_model command;
    command.workspace_name = "Default";
    command.model.name = "m";
    bool was_behind = false;
    a.node->submit(schemas::commands::create_model::type, schemas::encode(command), request_of(),
                   all.random.uuid(), [&](const auto& outcome) {
                       ASSERT_TRUE(outcome);
                       was_behind = b.next_offset() <= outcome->offset;
                       b.node->read([&](result<registry_node::reading> got) { seen = *std::move(got); });
                   });
    all.scheduler.settle();
    ASSERT_TRUE(seen);
    EXPECT_TRUE(was_behind) << "the test shows nothing";
    EXPECT_FALSE(seen->stale);
    EXPECT_EQ(cluster::models(*seen->view), 1u);
}

TEST(read_barrier_test, reads_that_come_while_a_question_is_open_share_the_next) {
    cluster all;
    registry_node::options options;
    options.reads = read_mode::log;  // questions can be counted
    machine& a = all.start("a", options);
    std::size_t answered = 0;
    for (int i = 0; i < 50; ++i) a.node->read([&](const auto& got) { answered += got ? 1 : 0; });
    all.scheduler.settle();
    EXPECT_EQ(answered, 50u);
    EXPECT_EQ(all.commands(schemas::commands::no_operation::type).size(), 2u);
}

TEST(read_barrier_test, without_a_heartbeat_for_five_seconds_the_leader_is_not_believed) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    all.create_model(b, "m");
    all.read(a);
    EXPECT_EQ(all.commands(schemas::commands::no_operation::type).size(), 0u);
    // The node's heartbeats get lost, and a deposed leader reports an end that is too low.
    a.faults.fates.assign(4, events::log::memory::batch_fate::rejected);
    all.scheduler.run_for(limits::barrier_heartbeat_age_ms_max + 1'500);
    a.faults.fates.clear();
    a.faults.lag = 100;
    const auto got = all.read(a);
    EXPECT_EQ(all.commands(schemas::commands::no_operation::type).size(), 1u);
    ASSERT_EQ(got->size(), 1u);
    EXPECT_FALSE(got->front()->stale);
}

TEST(read_barrier_test, a_log_out_of_reach_makes_reads_stale_after_two_seconds) {
    cluster all;
    machine& a = all.start("a");
    a.faults.is_reachable = false;
    runtime::counter& counted = runtime::metric_counter(runtime::metrics::stale_reads);
    const std::uint64_t before = counted.value();
    const auto got = all.read(a);
    all.scheduler.run_for(limits::barrier_wait_ms_max - 100);
    EXPECT_TRUE(got->empty());
    all.scheduler.run_for(300);
    ASSERT_EQ(got->size(), 1u);
    ASSERT_TRUE(got->front());
    EXPECT_TRUE(got->front()->stale);
    EXPECT_EQ(counted.value(), before + 1);
    a.faults.is_reachable = true;
    all.scheduler.run_for(3'000);
    const auto again = all.read(a);
    ASSERT_EQ(again->size(), 1u);
    EXPECT_FALSE(again->front()->stale);
}

}  // namespace
}  // namespace herald::test
