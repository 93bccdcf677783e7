// Protects everything that follows a partition: nothing is left unread, trouble ends by itself, and an owner
// that has let go hears nothing more.
#include "events/log/tail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "events/log/partition_scan.hpp"
#include "events/log/topics.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/manual_scheduler.hpp"

namespace herald::test {
namespace {

using namespace events::log;
using namespace events::log::memory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct reach final : memory_faults {
    bool reachable() override { return is_reachable; }
    bool is_reachable = true;
};

struct tail_test : ::testing::Test {
    void SetUp() override { ASSERT_TRUE(log.create_topics()); }
    void append(const std::string& value) {
        ASSERT_TRUE(producer->append(where, "", value, [](const auto&) {}));
        scheduler.settle();
    }
    tail::handlers noting() {
        return {[this](const offset_range& range) { return begin_at_end ? range.next : range.first; },
                [this](const read_batch& batch) {
                    for (const record& each : batch.records) found.push_back(*each.value);
                    ends += batch.at_end ? 1 : 0;
                    if (is_enough) followed.reset();
                },
                [this](const error& why) { failures.push_back(why.code); }};
    }
    void follow(asks_leader when = asks_leader::to_open) {
        followed.emplace(log, scheduler, where, noting(), when);
        scheduler.settle();
    }

    const topic_partition where{std::string(topic::attempts), 3};
    manual_scheduler scheduler;
    memory_broker broker{scheduler.time()};
    reach faults;
    memory_log log{broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); }, &faults};
    memory_log others{broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); }};
    std::unique_ptr<events::log::producer> producer = others.open_producer(producer_kind::ordinary);
    bool begin_at_end = false;
    bool is_enough = false;
    std::vector<std::string> found;
    std::vector<error_code> failures;
    int ends = 0;
    std::optional<tail> followed;
};

TEST_F(tail_test, what_is_there_and_what_comes_is_found_once_and_in_order) {
    append("a");
    append("b");
    follow();
    append("c");
    EXPECT_THAT(found, ElementsAre("a", "b", "c"));
}

TEST_F(tail_test, its_owner_says_where_to_begin) {
    append("old");
    begin_at_end = true;
    follow();
    EXPECT_THAT(found, IsEmpty());
    append("new");
    EXPECT_THAT(found, ElementsAre("new"));
}

TEST_F(tail_test, more_than_one_poll_takes_is_read_without_waiting) {
    for (int i = 0; i < 2'500; ++i) append("x");
    follow();
    EXPECT_EQ(found.size(), 2'500u);
}

TEST_F(tail_test, a_log_out_of_reach_is_asked_again_and_read_on_within_a_second) {
    faults.is_reachable = false;
    follow();
    scheduler.run_for(5'000);
    EXPECT_THAT(failures, testing::Each(error_code::unavailable));
    EXPECT_FALSE(failures.empty());
    faults.is_reachable = true;
    append("a");
    scheduler.run_for(1'000);
    EXPECT_THAT(found, ElementsAre("a"));
    faults.is_reachable = false;
    scheduler.run_for(5'000);
    faults.is_reachable = true;
    append("b");
    scheduler.run_for(1'000);
    EXPECT_THAT(found, ElementsAre("a", "b"));
}

TEST_F(tail_test, a_reader_whose_place_the_log_lost_begins_anew) {
    follow();
    faults.is_reachable = false;
    for (const char* value : {"a", "b", "c"}) append(value);
    broker.trim(where, 2);
    failures.clear();
    faults.is_reachable = true;
    scheduler.run_for(2'000);
    EXPECT_THAT(failures, ElementsAre(error_code::failed_precondition));
    EXPECT_THAT(found, ElementsAre("c"));
}

TEST_F(tail_test, a_handler_may_destroy_it) {
    append("a");
    is_enough = true;
    follow();
    EXPECT_FALSE(followed);
    append("b");
    scheduler.run_for(5'000);
    EXPECT_THAT(found, ElementsAre("a"));
}

TEST_F(tail_test, how_long_the_leader_is_silent_is_known_where_it_is_asked_every_second) {
    follow(asks_leader::every_second);
    scheduler.run_for(10'000);
    EXPECT_EQ(followed->leader_heard_ms(), scheduler.time().steady_ms());
    const std::int64_t last_ms = scheduler.time().steady_ms();
    faults.is_reachable = false;
    scheduler.run_for(10'000);
    EXPECT_EQ(followed->leader_heard_ms(), last_ms);
}

TEST_F(tail_test, a_scan_ends_with_what_was_there_when_it_began) {
    for (const char* value : {"a", "b", "c"}) append(value);
    std::vector<std::string> seen;
    std::optional<bool> from_first;
    std::optional<partition_scan> scan;
    const auto read_last = [&](std::int64_t offsets) {
        seen.clear();
        from_first.reset();
        partition_scan::handlers handlers;
        handlers.found = [&](const std::vector<record>& records) {
            for (const record& each : records) seen.push_back(*each.value);
        };
        handlers.done = [&](result<bool> outcome) {
            ASSERT_TRUE(outcome);
            from_first = *outcome;
            scan.reset();
        };
        scan.emplace(log, scheduler, where, offsets, std::move(handlers));
        scheduler.settle();
    };
    read_last(2);
    EXPECT_THAT(seen, ElementsAre("b", "c"));
    EXPECT_EQ(from_first, false);
    read_last(whole_partition);
    EXPECT_THAT(seen, ElementsAre("a", "b", "c"));
    EXPECT_EQ(from_first, true);
    EXPECT_FALSE(scan);
}

}  // namespace
}  // namespace herald::test
