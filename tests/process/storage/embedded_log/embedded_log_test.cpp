// Protects what the embedded log adds to the guarantees of every log: when it syncs, what it keeps in memory,
// and that it belongs to one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>

#include "tests/process/storage/embedded_log/disk_gate.hpp"
#include "tests/process/storage/embedded_log/embedded_log.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using namespace events;
using namespace events::log;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(embedded_log, a_record_of_a_durable_topic_is_synced_before_anyone_sees_it) {
    open();
    append_many(direct_0, 1, 10);
    std::promise<void> acknowledged;
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    const auto reader = x_log->open_reader(direct_0, 1);
    {
        const std::lock_guard disk_is_slow(sync_gate);
        ASSERT_TRUE(producer->append(direct_0, "k", "v",
                                     [&](const result<std::int64_t>&) { acknowledged.set_value(); }));
        const auto told = acknowledged.get_future();
        const auto seen = reader->poll(10, 300);
        ASSERT_TRUE(seen);
        EXPECT_THAT(seen->records, IsEmpty());
        EXPECT_EQ(told.wait_for(milliseconds(0)), std::future_status::timeout);
    }
    const auto seen = reader->poll(10, patience.count());
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->records.size(), 1u);
}

TEST_F(embedded_log, only_durable_topics_are_synced) {
    open();
    append_many(direct_0, 1, 10);
    const int before = sync_count;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(promote_0, "k", "v"));
    EXPECT_EQ(sync_count, before);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(direct_0, "k", "v"));
    EXPECT_EQ(sync_count, before + 10);
}

TEST_F(embedded_log, a_folder_that_is_open_is_refused) {
    open();
    const auto second = storage::embedded_log::make_embedded_log(x_folder / "log", {}, x_clock);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, error_code::unavailable);
    EXPECT_THAT(second.error().message, HasSubstr("in use by another process"));
    EXPECT_TRUE(append(direct_0, "still", "works"));
}

TEST_F(embedded_log, what_is_no_longer_in_memory_is_read_from_the_disk) {
    x_options.recent_bytes_max = 10'000;
    open();
    append_many(promote_0, 3'000, 100);
    const auto all = read(promote_0, 0);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3'000u);
    for (std::size_t i = 0; i < all->size(); ++i) {
        ASSERT_EQ((*all)[i].offset, static_cast<std::int64_t>(i));
        ASSERT_EQ((*all)[i].key, std::to_string(i));
    }
}

TEST_F(embedded_log, records_carry_the_time_of_the_append) {
    open();
    ASSERT_TRUE(append(direct_0, "a", "1"));
    const std::int64_t first_ms = x_clock.wall_ms();
    x_clock.advance_ms(5'000);
    ASSERT_TRUE(append(direct_0, "b", "2"));
    open();
    const auto found = read(direct_0, 0);
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].time_ms, first_ms);
    EXPECT_EQ((*found)[1].time_ms, first_ms + 5'000);
}

TEST_F(embedded_log, too_much_that_is_unacknowledged_is_refused_at_once) {
    open();
    std::mutex disk;
    std::atomic<int> answered = 0;
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    const std::string large(1024 * 1024, 'x');
    int taken = 0;
    {
        std::lock_guard slow(disk);
        result<void> last;
        while (last && taken < 1'000) {
            last = producer->append(direct_0, "k", large, [&](const result<std::int64_t>&) {
                std::lock_guard wait(disk);
                ++answered;
            });
            if (last) ++taken;
        }
        EXPECT_EQ(last.error().code, error_code::resource_exhausted);
        EXPECT_LT(taken, 100);
    }
    ASSERT_TRUE(append(direct_0, "after", "v"));
    EXPECT_EQ(answered, taken);
}

TEST_F(embedded_log, a_second_member_takes_over_when_the_first_leaves) {
    open();
    const std::vector<std::string> topics{std::string(topic::direct)};
    auto first = x_log->join(std::string(group::direct), topics);
    const auto second = x_log->join(std::string(group::direct), topics);
    const auto mine = first->poll(100, 0);
    ASSERT_EQ(mine.size(), static_cast<std::size_t>(partitions_default));
    EXPECT_THAT(second->poll(100, 50), IsEmpty());
    std::atomic<int> calls = 0;
    second->on_ready([&] { ++calls; });
    const int before = calls;
    EXPECT_THAT(second->poll(100, 0), IsEmpty());
    first->commit(direct_0, std::get<assigned>(mine[0]).epoch, 0, "left");
    first.reset();
    EXPECT_GT(calls, before);
    const auto theirs = second->poll(100, patience.count());
    ASSERT_EQ(theirs.size(), static_cast<std::size_t>(partitions_default));
    EXPECT_EQ(std::get<assigned>(theirs[0]).metadata, "left");
    EXPECT_GT(std::get<assigned>(theirs[0]).epoch, std::get<assigned>(mine[0]).epoch);
}

TEST_F(embedded_log, what_it_opened_may_outlive_it) {
    open();
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    const auto reader = x_log->open_reader(direct_0, 0);
    const auto member = x_log->join(std::string(group::direct), {std::string(topic::direct)});
    x_log.reset();
    EXPECT_EQ(producer->append(direct_0, "k", "v", [](auto) {}).error().code, error_code::aborted);
    EXPECT_EQ(reader->poll(10, 0).error().code, error_code::unavailable);
    EXPECT_THAT(member->poll(10, 0), IsEmpty());
    open();
}

TEST_F(embedded_log, a_large_log_opens_quickly) {
    open();
    append_many(promote_0, 100'000, 200);
    const fs::path killed = copy_alive();
    const auto milliseconds_to_open = [&](const fs::path& folder) {
        x_log.reset();
        const auto start = steady_clock::now();
        open(folder);
        return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start).count();
    };
    const auto closed_ms = milliseconds_to_open(x_folder / "log");
    const auto killed_ms = milliseconds_to_open(killed);
    RecordProperty("closed_ms", static_cast<int>(closed_ms));
    std::printf("opened in %lld ms, after kill -9 in %lld ms\n", static_cast<long long>(closed_ms),
                static_cast<long long>(killed_ms));
    EXPECT_LT(closed_ms, 1'000);
    EXPECT_LT(killed_ms, 5'000);
    EXPECT_EQ(range(promote_0).next, 100'000);
}

}  // namespace
}  // namespace herald::test
