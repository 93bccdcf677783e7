// Protects the guarantees of events/log/log.hpp, the same for every log: groups and their members.
#include "tests/support/log_suite.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "tests/support/log_suite_tools.hpp"

namespace herald::test {

using events::log::topic_partition;

TEST_P(log_suite, a_member_gets_every_partition_and_reads_each_in_order) {
    follower member(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    for (const std::int32_t partition : {0, 5, 11})
        append_all(log(), direct(partition), numbered(mark() + std::to_string(partition) + "/", 50));
    ASSERT_TRUE(member.wait_for(mark(), 150));
    for (const std::int32_t partition : {0, 5, 11}) {
        const std::string own = mark() + std::to_string(partition) + "/";
        const auto found = member.marked(own);
        ASSERT_EQ(found.size(), 50u);
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].what.key, own + std::to_string(i));
            EXPECT_EQ(found[i].where, direct(partition));
        }
    }
    EXPECT_TRUE(member.failures().empty());
    member.commit("");
}

TEST_P(log_suite, the_next_member_goes_on_where_the_last_one_committed) {
    std::map<topic_partition, std::uint64_t> epochs;
    {
        follower first(log(), events::log::group::direct, direct_topics);
        ASSERT_TRUE(first.wait_for_assignment(direct_partitions));
        append_all(log(), direct(2), numbered(mark() + "done/", 10));
        ASSERT_TRUE(first.wait_for(mark() + "done/", 10));
        first.commit("seven=7");
        append_all(log(), direct(2), numbered(mark() + "open/", 10));
        ASSERT_TRUE(first.wait_for(mark() + "open/", 10));
    }
    follower second(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(second.wait_for_assignment(direct_partitions));
    EXPECT_EQ(second.assigned().at(direct(2)).metadata, "seven=7");
    ASSERT_TRUE(second.wait_for(mark() + "open/", 10));
    EXPECT_TRUE(second.marked(mark() + "done/").empty());
    second.commit("");
}

TEST_P(log_suite, a_commit_under_another_epoch_is_ignored) {
    std::int64_t committed = 0;
    {
        follower first(log(), events::log::group::direct, direct_topics);
        ASSERT_TRUE(first.wait_for_assignment(direct_partitions));
        const events::log::assigned mine = first.assigned().at(direct(4));
        append_all(log(), direct(4), numbered(mark(), 3));
        ASSERT_TRUE(first.wait_for(mark(), 3));
        committed = first.marked(mark())[0].what.offset + 1;
        first.member().commit(direct(4), mine.epoch, committed, "valid");
        first.member().commit(direct(4), mine.epoch - 1, committed + 2, "of an older epoch");
    }
    follower second(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(second.wait_for_assignment(direct_partitions));
    EXPECT_EQ(second.assigned().at(direct(4)).next_offset, committed);
    EXPECT_EQ(second.assigned().at(direct(4)).metadata, "valid");
    ASSERT_TRUE(second.wait_for(mark(), 2));
    second.commit("");
}

TEST_P(log_suite, a_paused_partition_brings_nothing_until_it_is_resumed) {
    follower member(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    member.member().pause(direct(7));
    append_all(log(), direct(7), numbered(mark() + "paused/", 5));
    append_all(log(), direct(8), numbered(mark() + "other/", 5));
    ASSERT_TRUE(member.wait_for(mark() + "other/", 5));
    for (int i = 0; i < 5; ++i) member.poll();
    EXPECT_TRUE(member.marked(mark() + "paused/").empty());
    member.member().resume(direct(7));
    EXPECT_TRUE(member.wait_for(mark() + "paused/", 5));
    member.commit("");
}

TEST_P(log_suite, a_members_poll_ends_with_the_record_that_makes_it_large) {
    constexpr std::size_t large = 400 * 1024;
    std::vector<sent_record> sent = numbered(mark() + "large/", 12);
    for (sent_record& each : sent) each.value = std::string(large, 'x');
    append_all(log(), direct(5), sent);
    follower member(log(), events::log::group::direct, direct_topics);
    std::size_t before = 0;
    const bool all_came = member.poll_until([&] {
        const std::size_t now = member.marked(mark()).size();
        EXPECT_LE((now - before) * large, limits::member_poll_bytes_max + large);
        before = now;
        return now == sent.size();
    });
    EXPECT_TRUE(all_came);
    member.commit("");
}

TEST_P(log_suite, a_member_is_called_when_there_is_something_to_poll) {
    std::mutex mutex;
    std::condition_variable called;
    int calls = 0;
    follower member(log(), events::log::group::direct, direct_topics);
    member.member().on_ready([&] {
        std::lock_guard lock(mutex);
        ++calls;
        called.notify_all();
    });
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    for (int i = 0; i < 3; ++i) member.poll();
    int seen = 0;
    {
        std::lock_guard lock(mutex);
        seen = calls;
    }
    append_all(log(), direct(1), {{mark() + "new", "v"}});
    {
        std::unique_lock lock(mutex);
        ASSERT_TRUE(called.wait_for(lock, patience, [&] { return calls > seen; }));
    }
    EXPECT_TRUE(member.wait_for(mark(), 1));
    member.commit("");
}

TEST_P(log_suite, a_release_of_what_was_not_recalled_changes_nothing) {
    follower member(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    const std::uint64_t epoch = member.assigned().at(direct(6)).epoch;
    member.member().release(direct(6), epoch);
    member.member().release(direct(6), epoch + 1);
    append_all(log(), direct(6), numbered(mark(), 3));
    EXPECT_TRUE(member.wait_for(mark(), 3));
    member.commit("");
}

TEST_P(log_suite, a_group_that_never_committed_is_a_failure) {
    follower member(log(), "herald-never-committed", direct_topics);
    ASSERT_TRUE(member.poll_until([&] { return !member.failures().empty(); }));
    EXPECT_EQ(member.failures().front().code, error_code::failed_precondition);
    EXPECT_TRUE(member.assigned().empty());
}

TEST_P(log_suite, a_member_of_an_unknown_topic_fails) {
    follower member(log(), events::log::group::direct, {"no.such.topic"});
    ASSERT_TRUE(member.poll_until([&] { return !member.failures().empty(); }));
    EXPECT_NE(member.failures().front().message.find("no.such.topic"), std::string::npos)
        << member.failures().front().message;
}

}  // namespace herald::test
