// Protects P1 and P5: what a node answers is what the log made of the command, once, on every node, and all
// nodes hold the same state (design.md §1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/metrics.hpp"
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
using schemas::commands::command_type;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What /metrics says of a node, the metrics of which begin with "\n".
std::string metrics_of(const machine& one) {
    node_metrics shown;
    shown.show(one.node->state_now());
    return runtime::metrics_text();
}

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
    row_changes undo;  // what a crash leaves: rows and position of a moment ago
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

// ---- the wrong log, the wrong node

TEST(node_test, a_log_that_was_made_anew_is_refused) {
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

TEST(node_test, a_log_that_was_cut_is_refused) {
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

TEST(node_test, a_log_that_came_back_as_another_is_refused_while_the_node_runs) {
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

TEST(node_test, an_empty_log_is_not_begun_anew_by_a_node_that_knew_one) {
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

TEST(node_test, another_key_ring_is_refused) {
    cluster all;
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    EXPECT_TRUE(read_genesis(log, all.keys));
    const auto other = read_genesis(log, runtime::key_ring::of("first", std::string(32, 'x')));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, error_code::failed_precondition);
}

TEST(node_test, a_command_of_a_newer_version_stops_the_node_and_is_not_skipped) {
    cluster all;
    machine& a = all.start("a");
    schemas::commands::command_envelope newer = all.commands(schemas::commands::genesis::type).front();
    newer.type = static_cast<command_type>(9'999);
    events::log::memory::memory_log log(*all.broker, [](const std::function<void()>& task) { task(); });
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    const std::uint64_t next = a.next_offset();
    ASSERT_TRUE(producer->append(commands_partition, "", schemas::commands::seal_envelope(newer),
                                 [](const auto&) {}));
    all.scheduler.settle();
    ASSERT_EQ(a.failures.size(), 1u);
    EXPECT_EQ(a.failures[0].what, node_failure::kind::unknown_command);
    EXPECT_EQ(a.next_offset(), next);
    EXPECT_EQ(all.create_model(a, "m")->failure(), error_code::unavailable);
}

TEST(node_test, a_later_process_under_the_same_name_ends_the_earlier) {
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

TEST(node_test, a_first_heartbeat_of_a_dead_process_that_lands_late_does_not_end_the_living) {
    cluster all;
    machine& a = all.start("a");
    all.kill(a);
    a.faults.fates = {batch_fate::held};
    all.start("a");
    EXPECT_FALSE(a.node->ready());
    ASSERT_EQ(all.broker->held(), 1u);
    a.node.reset();  // it dies before it hears
    all.start("a");
    ASSERT_TRUE(a.node->ready());
    all.broker->release(0);
    all.scheduler.run_for(10'000);
    EXPECT_TRUE(a.failures.empty());
    EXPECT_EQ(all.create_model(a, "m")->outcome().code, 0u);
}

TEST(node_test, a_first_heartbeat_that_the_log_did_not_take_is_followed_by_another_soon) {
    cluster all;
    machine& a = all.start("a");
    all.kill(a);
    a.faults.fates = {batch_fate::rejected};
    all.start("a");
    EXPECT_FALSE(a.node->ready());
    all.scheduler.run_for(2'000);
    EXPECT_TRUE(a.node->ready());
}

/// Makes the state differ in a way that apply will show.
void damage(machine& on) {
    row_changes wrong;
    schemas::append_varint(*(wrong[key_of(table::counter).text("model")] = std::string()), 77);
    ASSERT_TRUE(on.store->write(wrong));
}

TEST(node_test, a_node_whose_hash_is_in_the_minority_stops_itself_before_it_serves) {
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

TEST(node_test, a_tie_of_hashes_stops_writes_on_both_sides_until_one_is_gone) {
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

TEST(node_test, a_node_that_meets_a_live_one_serves_after_it_has_heard_what_that_has) {
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

TEST(node_test, a_log_that_was_cut_and_has_grown_anew_while_a_node_was_paused_ends_that_node) {
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

TEST(node_test, after_an_own_heartbeat_that_failed_the_newest_record_is_read_again) {
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
    hook.name = "h";
    hook.location = "https://receiver.example/";
    hook.all_events = true;
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
    std::vector<std::uint64_t> tokens;
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
    on.node->add_job("webhook-health", job);
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

// ---- heartbeats

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

// ---- disk

TEST(node_test, on_a_full_disk_only_what_makes_room_is_taken) {
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

TEST(node_test, a_node_that_is_not_heard_for_eight_seconds_is_not_ready_refuses_writes_and_comes_back) {
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

TEST(node_test, a_standalone_node_needs_no_heartbeat_to_be_ready) {
    cluster all(node_kind::standalone);
    machine& a = all.start("a");
    all.scheduler.run_for(limits::heartbeat_interval_standalone_ms - 1'000);
    EXPECT_EQ(a.trouble(), "");
}

TEST(node_test, a_node_that_starts_or_drains_says_so) {
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

/// Takes no writes while told so.
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

TEST(node_test, a_state_that_cannot_be_written_is_told_and_shows_as_lag) {
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

TEST(node_test, a_node_that_catches_up_shows_how_far_it_is_behind) {
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

TEST(node_test, the_log_s_growth_is_shown) {
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

TEST(node_test, how_long_a_replay_takes_is_told_by_the_last_one) {
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

TEST(node_test, events_that_are_not_published_are_counted_and_aged) {
    cluster all;
    machine& a = all.start("a");
    all.scheduler.run_for(3'000);
    EXPECT_EQ(runtime::metric_gauge(runtime::metrics::claim, {{"name", "publisher"}}).value(), 1);
    schemas::commands::create_webhook hook;
    hook.name = "all";
    hook.location = "https://example.org/hook";
    hook.all_events = true;
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

TEST(node_test, metrics_say_what_readyz_says) {
    node_metrics shown;
    registry_node::status now;
    now.not_ready = runtime::trouble{runtime::not_ready_reason::log_unreachable, "…"};
    now.writes_refused = now.not_ready;
    now.lag_records = 7;
    now.outbox_oldest_ms = 12'500;
    shown.show(now);
    const auto shows = [](const std::string& line) {
        return runtime::metrics_text().find("\n" + line + "\n") != std::string::npos;
    };
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"log_unreachable\"} 1"));
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"hashes_tied\"} 0"));
    EXPECT_TRUE(shows("herald_log_reachable{process=\"api\"} 0"));
    EXPECT_TRUE(shows("herald_writes_refused 1"));
    EXPECT_TRUE(shows("herald_apply_lag_records 7"));
    EXPECT_TRUE(shows("herald_outbox_oldest_seconds 12"));
    shown.show(registry_node::status());
    EXPECT_TRUE(shows("herald_not_ready{process=\"api\",reason=\"log_unreachable\"} 0"));
    EXPECT_TRUE(shows("herald_log_reachable{process=\"api\"} 1"));
    EXPECT_TRUE(shows("herald_writes_refused 0"));
}

}  // namespace
}  // namespace herald::test
