// Protects P5: a node applies only its own log under its own name; nodes whose states differ find it out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/commands/limits.hpp"
#include "schemas/commands/nodes.hpp"
#include "schemas/stored_format.hpp"
#include "storage/node/limits.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/support/cluster.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using events::log::memory::batch_fate;
using schemas::commands::command_type;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(node_identity_test, a_log_that_was_made_anew_is_refused) {
    cluster all;
    machine& a = all.start("a");
    all.create_model(a, "m");
    all.kill(a);
    all.begin();
    machine& other = all.start("other");  // the new log becomes as long as the old one was
    for (int i = 0; i < 10; ++i) all.create_model(other, "m" + std::to_string(i));
    all.start("a");
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::log_mismatch) << a.failures[0].message;
    EXPECT_FALSE(a.node->ready());
}

TEST(node_identity_test, a_log_that_was_cut_is_refused) {
    for (const std::int64_t cut : {1, 2}) {
        cluster all;
        machine& a = all.start("a");
        all.create_model(a, "m");
        const auto next = static_cast<std::int64_t>(a.next_offset());
        all.kill(a);
        all.broker->cut(commands_partition, next - cut);
        all.start("a");
        all.scheduler.run_for(limits::log_end_ms_max + 1'000);
        ASSERT_EQ(a.failures.size(), 1u) << "cut by " << cut;
        EXPECT_EQ(a.failures[0].what, node_failure::kind::log_mismatch) << a.failures[0].message;
    }
}

TEST(node_identity_test, a_log_that_came_back_as_another_is_refused_while_the_node_runs) {
    cluster all;
    machine& a = all.start("a");
    all.create_model(a, "m");
    a.faults.is_reachable = false;
    all.create_model(a, "n");
    all.scheduler.run_for(1'000);
    const auto next = static_cast<std::int64_t>(a.next_offset());
    all.broker->cut(commands_partition, next - 1);
    machine& b = all.start("b");  // writes another record at that offset
    all.create_model(b, "other");
    a.faults.is_reachable = true;
    all.scheduler.run_for(1'000);
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::log_mismatch);
}

TEST(node_identity_test, a_log_of_another_unreleased_build_is_refused) {
    for (const std::uint32_t format : {0u, schemas::stored_format - 1, schemas::stored_format + 1}) {
        cluster all;
        events::log::memory::memory_broker broker(all.scheduler.clock());
        events::log::memory::memory_log log(broker, [](const std::function<void()>& task) { task(); });
        ASSERT_TRUE(log.create_topics());
        schemas::commands::genesis first;
        first.key_check = all.keys.check_value();
        first.format = format;
        const auto producer = log.open_producer(events::log::producer_kind::ordinary);
        const auto sealed = schemas::commands::seal_envelope(schemas::commands::make_envelope(first));
        ASSERT_TRUE(producer->append(commands_partition, "", sealed, [](const auto&) {}));
        const bool is_earlier = format < schemas::stored_format;
        for (const error& refused : {read_genesis(log, all.keys).error(), has_begun(log).error()}) {
            EXPECT_EQ(refused.code, error_code::failed_precondition) << format;
            EXPECT_THAT(
                refused.message,
                HasSubstr(is_earlier ? "was made by an earlier unreleased build: choose an empty --data"
                                     : "was made by a later build"));
        }
    }
}

TEST(node_identity_test, an_empty_log_is_not_begun_anew_by_a_node_that_knew_one) {
    cluster all;
    machine& a = all.start("a");
    all.kill(a);
    all.broker = std::make_unique<events::log::memory::memory_broker>(all.scheduler.clock());
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    ASSERT_TRUE(log.create_topics());
    const auto begun = begin_log(log, all.keys, {}, *a.store->view(), all.random, all.scheduler.clock());
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, error_code::failed_precondition);
    EXPECT_TRUE(all.broker->records(commands_partition).empty());
}

TEST(node_identity_test, another_key_ring_is_refused) {
    cluster all;
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    EXPECT_TRUE(read_genesis(log, all.keys));
    const auto other = read_genesis(log, runtime::key_ring::of("first", std::string(32, 'x')));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, error_code::failed_precondition);
}

TEST(node_identity_test, a_command_of_a_newer_version_stops_the_node_and_is_not_skipped) {
    cluster all;
    machine& a = all.start("a");
    schemas::commands::command_envelope newer = all.commands(schemas::commands::genesis::type).front();
    newer.type = static_cast<command_type>(9'999);
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    const std::uint64_t next = a.next_offset();
    int woken = 0;
    a.node->after_next_heartbeat([&] {
        ++woken;
        EXPECT_FALSE(a.node->read_now(storage::node::freshness::applied));
    });
    ASSERT_TRUE(producer->append(commands_partition, "", schemas::commands::seal_envelope(newer),
                                 [](const auto&) {}));
    all.scheduler.settle();
    EXPECT_EQ(woken, 1) << "nobody waits for what a failed node does not hear any more";
    a.node->after_next_heartbeat([&] { ++woken; });
    EXPECT_EQ(woken, 2);
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::unknown_command);
    EXPECT_EQ(a.next_offset(), next);
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
}

TEST(node_identity_test, a_later_process_under_the_same_name_ends_the_earlier) {
    cluster all;
    machine& a = all.start("a");
    machine twin;
    twin.log = std::make_unique<events::log::memory::memory_log>(
        *all.broker, [&](std::function<void()> task) { all.scheduler.post(std::move(task)); });
    registry_node::options options;
    options.name = "a";
    options.kind = node_kind::cluster;
    options.has_thread = false;
    twin.node = make_node(options, {*twin.log, *twin.store, all.scheduler, all.random});
    twin.node->start();
    all.scheduler.run_for(5'000);
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::superseded);
    EXPECT_TRUE(twin.node->ready());
}

TEST(node_identity_test, a_first_heartbeat_of_a_dead_process_that_lands_late_does_not_end_the_living) {
    cluster all;
    machine& a = all.start("a");
    all.kill(a);
    a.faults.fates = {batch_fate::held};
    all.start("a");
    EXPECT_FALSE(a.node->ready());
    ASSERT_EQ(all.broker->held(), 1u);
    a.node.reset();  // it dies before it hears of it
    all.start("a");
    ASSERT_TRUE(a.node->ready());
    all.broker->release(0);
    all.scheduler.run_for(10'000);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
}

TEST(node_identity_test, a_first_heartbeat_that_the_log_did_not_take_is_followed_by_another_soon) {
    cluster all;
    machine& a = all.start("a");
    all.kill(a);
    a.faults.fates = {batch_fate::rejected};
    all.start("a");
    EXPECT_FALSE(a.node->ready());
    all.scheduler.run_for(2'000);
    EXPECT_TRUE(a.node->ready());
}

/// Makes the state differ in a way that apply will reveal.
void damage(machine& on) {
    row_changes wrong;
    schemas::append_varint(*(wrong[key_of(table::counter).text("model")] = std::string()), 77);
    ASSERT_TRUE(on.store->write(wrong));
}

TEST(node_identity_test, a_node_whose_hash_is_in_the_minority_stops_itself_before_it_serves) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    machine& c = all.start("c");
    all.kill(c);
    damage(c);
    all.create_model(a, "m");
    all.start("c");
    EXPECT_FALSE(c.node->ready());
    all.scheduler.run_for(100);
    EXPECT_FALSE(c.node->ready());
    ASSERT_EQ(c.failures.size(), 1u);
    EXPECT_EQ(c.failures[0].what, node_failure::kind::diverged) << c.failures[0].message;
    all.scheduler.run_for(1'000);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_TRUE(b.failures.empty());
    EXPECT_EQ(all.create_model(a, "n")->outcome().code, 0u);
}

TEST(node_identity_test, a_tie_of_hashes_stops_writes_on_both_sides_until_one_is_gone) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    all.kill(b);
    damage(b);
    all.create_model(a, "m");
    EXPECT_THAT(metrics_of(a), HasSubstr("\nherald_hash_differences 0\n"));
    ::testing::internal::CaptureStderr();
    all.start("b");
    all.scheduler.run_for(3'000);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr(R"("level":"error","event":"node_hash_differs","node":"a","offset":)"),
                      HasSubstr(R"("event":"node_hash_differs","node":"b","offset":)"),
                      HasSubstr(R"(,"agree":1,"differ":1})")));
    EXPECT_THAT(metrics_of(a), HasSubstr("\nherald_hash_differences 1\n"));
    EXPECT_EQ(all.create_model(a, "n")->failure(), error_code::unavailable);
    EXPECT_EQ(all.create_model(b, "n")->failure(), error_code::unavailable);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_EQ(a.trouble(), "hashes_tied");
    EXPECT_TRUE(a.node->ready()) << "it still answers";
    all.kill(b);
    all.scheduler.run_for(limits::claim_lapse_ms + 3'000);
    EXPECT_EQ(all.create_model(a, "n")->outcome().code, 0u);
}

TEST(node_identity_test, a_node_that_meets_a_live_one_serves_after_it_has_heard_what_that_has) {
    cluster all;
    machine& a = all.start("a");
    machine& b = all.start("b");
    EXPECT_TRUE(b.node->ready());
    all.kill(b);
    all.start("b");
    all.scheduler.run_for(50);
    EXPECT_TRUE(b.node->ready()) << "a answers at once";
    all.kill(b);
    all.kill(a);
    all.start("b");
    all.scheduler.run_for(limits::peers_compared_ms_max - 100);
    EXPECT_FALSE(b.node->ready()) << "a may be about to come back";
    all.scheduler.run_for(200);
    EXPECT_TRUE(b.node->ready());
}

TEST(node_identity_test, a_log_that_was_cut_and_has_grown_anew_while_a_node_was_paused_ends_that_node) {
    cluster all;
    machine& a = all.start("a");
    for (int i = 0; i < 5; ++i) all.create_model(a, "a" + std::to_string(i));
    const auto next = static_cast<std::int64_t>(a.next_offset());
    a.is_paused = true;
    all.broker->cut(commands_partition, next - 3);
    machine& c = all.start("c");
    while (static_cast<std::int64_t>(c.next_offset()) < next + 3) {
        c.node->submit(schemas::commands::no_operation::type, "", {}, all.random.uuid(), [](const auto&) {});
        all.scheduler.settle();
    }
    all.resume(a);
    EXPECT_GT(a.next_offset(), static_cast<std::uint64_t>(next)) << "it has not noticed yet";
    all.scheduler.run_for(limits::heartbeat_interval_ms + 1'000);
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::log_mixed) << a.failures[0].message;
    EXPECT_TRUE(c.failures.empty());
    EXPECT_EQ(all.create_model(c, "later")->outcome().code, 0u);
}

TEST(node_identity_test, after_an_own_heartbeat_that_failed_the_newest_record_is_read_again) {
    cluster all;
    machine& a = all.start("a");
    all.create_model(a, "m");
    const auto next = static_cast<std::int64_t>(a.next_offset());
    all.broker->cut(commands_partition, next - 1);
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    ASSERT_TRUE(log.open_producer(events::log::producer_kind::ordinary)
                    ->append(commands_partition, "", "another", [](const auto&) {}));
    a.faults.fates = {batch_fate::rejected};
    all.scheduler.run_for(limits::heartbeat_interval_ms + 1'000);
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::log_mismatch) << a.failures[0].message;
}

}  // namespace
}  // namespace herald::test
