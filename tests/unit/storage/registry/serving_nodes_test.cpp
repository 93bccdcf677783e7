// Protects P7 (design.md §4): the answer to a report that a build is unsafe names every node of which a
// process may still answer from it, those too that another process of the same name has replaced.
#include "storage/registry/find/serving_nodes.hpp"

#include <gtest/gtest.h>

#include "schemas/commands/limits.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/content.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using storage::registry::find::unconfirmed_node;
namespace tables = storage::registry::tables;

constexpr std::int64_t grace_ms = 900'000;

class serving_nodes : public testing::Test {
  protected:
    registry all;

    schemas::commands::node_heartbeat heartbeat_of(const std::string& node, std::uint8_t boot) {
        schemas::commands::node_heartbeat beat;
        beat.node = node;
        beat.boot[0] = boot;
        beat.first = true;
        beat.applied_offset = all.offset;
        beat.isolation_grace_ms = grace_ms;
        beat.serves_predictions = true;
        return beat;
    }
    void run(const schemas::commands::node_heartbeat& beat) {
        const auto outcome = all.run(beat);
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
    }
    void beat(const std::string& node, std::uint8_t boot) { run(heartbeat_of(node, boot)); }
    /// The build that was reported by a record which nobody has applied yet.
    schemas::build reported() {
        schemas::build build;
        build.unsafe_scan_id.value = 1;
        build.unsafe_offset = all.run(schemas::commands::no_operation{}).offset;
        return build;
    }
    std::vector<unconfirmed_node> unconfirmed(const schemas::build& build) {
        return storage::registry::find::unconfirmed_nodes(*all.view(), build.unsafe_offset);
    }
    std::size_t kept_of(const std::string& node) {
        const auto row = tables::replaced_processes::find(*all.view(), node);
        return row ? row->processes.size() : 0;
    }
};

TEST_F(serving_nodes, there_is_one_while_a_node_that_serves_predictions_is_heard) {
    const auto is_one = [&] { return storage::registry::find::is_any_serving(*all.view()); };
    EXPECT_FALSE(is_one());
    auto without = heartbeat_of("herald-1", 1);
    without.serves_predictions = false;
    run(without);
    EXPECT_FALSE(is_one());
    beat("herald-0", 1);
    EXPECT_TRUE(is_one());
    all.now_ms += limits::node_contact_ms + 1;
    run(without);
    EXPECT_FALSE(is_one());
    beat("herald-0", 1);
    EXPECT_TRUE(is_one());
}

TEST_F(serving_nodes, a_process_that_was_replaced_is_named_until_its_grace_ends_and_awaited_by_nobody) {
    beat("herald-0", 1);
    const std::int64_t until_ms = all.now_ms + grace_ms;
    all.now_ms += 5'000;
    beat("herald-0", 2);
    const schemas::build build = reported();
    beat("herald-0", 2);  // it knows
    auto named = unconfirmed(build);
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named[0].node, "herald-0");
    EXPECT_EQ(named[0].serves_until_ms, until_ms);
    EXPECT_FALSE(named[0].is_in_contact);
    all.now_ms = until_ms - 1;
    beat("herald-0", 2);
    EXPECT_EQ(unconfirmed(build).size(), 1u);
    all.now_ms = until_ms;
    EXPECT_EQ(all.run(schemas::commands::no_operation{}).code, 0u);
    EXPECT_TRUE(unconfirmed(build).empty());
    beat("herald-0", 2);
    EXPECT_EQ(kept_of("herald-0"), 0u);
}

TEST_F(serving_nodes, a_node_is_named_once_with_the_latest_time_of_its_processes) {
    beat("a", 1);
    beat("b", 1);
    const std::int64_t until_ms = all.now_ms + grace_ms;
    all.now_ms += 1'000;
    auto shorter = heartbeat_of("b", 2);
    shorter.isolation_grace_ms = 15'000;
    run(shorter);
    beat("c", 1);
    const auto named = unconfirmed(reported());
    ASSERT_EQ(named.size(), 3u);
    EXPECT_EQ(named[1].node, "b");
    EXPECT_EQ(named[1].serves_until_ms, until_ms);
    EXPECT_TRUE(named[1].is_in_contact) << "its later process will say that it knows";
}

TEST_F(serving_nodes, a_replaced_process_is_not_named_that_left_knew_or_served_nothing) {
    beat("left", 1);
    auto farewell = heartbeat_of("left", 1);
    farewell.last = true;
    run(farewell);
    auto manager = heartbeat_of("served nothing", 1);
    manager.serves_predictions = false;
    run(manager);
    beat("knew", 1);
    const schemas::build build = reported();
    beat("knew", 1);
    for (const char* node : {"left", "served nothing", "knew"}) {
        beat(node, 2);
        beat(node, 2);
    }
    EXPECT_TRUE(unconfirmed(build).empty());
    EXPECT_EQ(unconfirmed(reported()).size(), 3u) << "of a report that none has heard of";
}

TEST_F(serving_nodes, a_process_that_speaks_again_is_no_longer_one_that_was_replaced) {
    beat("a", 1);
    beat("a", 2);
    beat("a", 1);
    const auto row = tables::replaced_processes::find(*all.view(), "a");
    ASSERT_TRUE(row);
    ASSERT_EQ(row->processes.size(), 1u);
    EXPECT_EQ(row->processes[0].boot[0], 2);
}

TEST_F(serving_nodes, of_many_replaced_processes_none_is_forgotten) {
    beat("a", 1);
    const schemas::build build = reported();
    for (std::uint8_t boot = 2; boot < 100; ++boot) {
        all.now_ms += 1'000;
        beat("a", boot);  // these know
    }
    EXPECT_EQ(kept_of("a"), limits::replaced_processes_max);
    EXPECT_EQ(unconfirmed(build).size(), 1u);
}

TEST_F(serving_nodes, replaced_processes_are_forgotten_with_their_node) {
    beat("a", 1);
    beat("a", 2);
    EXPECT_EQ(kept_of("a"), 1u);
    all.now_ms += limits::node_row_kept_ms;
    EXPECT_EQ(all.run(schemas::commands::no_operation{}).code, 0u);
    EXPECT_EQ(kept_of("a"), 0u);
    EXPECT_FALSE(tables::nodes::find(*all.view(), "a"));
}

TEST_F(serving_nodes, replaced_processes_are_of_the_log_and_are_carried_into_no_other) {
    beat("a", 1);
    const std::string before = tables::content::digest(*all.view());
    beat("a", 2);
    ASSERT_EQ(kept_of("a"), 1u);
    EXPECT_EQ(tables::content::digest(*all.view()), before);
    const auto base = all.view();
    storage::registry::state::state_changes changes(base.get());
    tables::replaced_processes::put(changes, {"b", {}});
    for (const auto& [key, row] : changes.take()) EXPECT_FALSE(tables::content::is_carried(key));
}

}  // namespace
}  // namespace herald::test
