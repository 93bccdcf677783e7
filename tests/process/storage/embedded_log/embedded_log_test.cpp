// Protects the embedded log: the guarantees of every log; nothing acknowledged is lost by kill -9, a full
// disk or a restart; damage is refused; and old records are dropped.
#include "storage/embedded_log/embedded_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "events/log/topics.hpp"
#include "runtime/metrics.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/log_suite.hpp"
#include "tests/support/until.hpp"

namespace {
std::atomic<int> sync_count = 0;
std::atomic<int> syncs_waiting = 0;
std::mutex sync_gate;  // while it is held, the disk does not sync
}  // namespace

/// The real function, behind a gate.
extern "C" int fdatasync(int descriptor) {
    ++syncs_waiting;
    const std::lock_guard gate(sync_gate);
    --syncs_waiting;
    ++sync_count;
    return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using namespace events;
using namespace events::log;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

storage::embedded_log::embedded_log_options without_lag(std::size_t recent_bytes_max) {
    storage::embedded_log::embedded_log_options options;
    options.recent_bytes_max = recent_bytes_max;
    options.compaction_lag_ms = -1;
    return options;
}

// ---- the suite

class embedded_fixture final : public log_fixture {
  public:
    explicit embedded_fixture(std::size_t recent_bytes_max) : x_options(without_lag(recent_bytes_max)) {
        open();
    }
    events::log::partitioned_log& log() override { return *x_log; }
    bool restart() override {
        x_log.reset();
        return open();
    }
    /// A copy of the files while the log is open equals what kill -9 leaves.
    bool hard_stop() override {
        const fs::path before = path();
        ++x_generation;
        fs::copy(before, path(), fs::copy_options::recursive);
        x_log.reset();
        return open();
    }
    bool compact() override {
        x_log->maintain();
        return restart();  // what is in memory is not compacted
    }

  private:
    fs::path path() const { return x_folder / std::to_string(x_generation); }
    bool open() {
        auto opened = storage::embedded_log::make_embedded_log(path(), x_options, runtime::system_clock());
        EXPECT_TRUE(opened) << opened.error().message;
        x_log = std::move(*opened);
        return true;
    }

    const storage::embedded_log::embedded_log_options x_options;
    temporary_folder x_folder;
    int x_generation = 0;
    std::unique_ptr<storage::embedded_log::embedded_log> x_log;
};

log_factory embedded_factory(const std::string& name, std::size_t recent_bytes_max) {
    return {
        name, [=] {
            return result<std::unique_ptr<log_fixture>>(std::make_unique<embedded_fixture>(recent_bytes_max));
        }};
}

INSTANTIATE_TEST_SUITE_P(embedded, log_suite,
                         ::testing::Values(embedded_factory("from_memory", 16 * 1024 * 1024),
                                           embedded_factory("from_disk", 0)),
                         log_name);

// ---- what is its own

const topic_partition commands_0{std::string(topic::commands), 0};
const topic_partition promote_0{std::string(topic::promote), 0};
const topic_partition direct_0{std::string(topic::direct), 0};
const topic_partition dead_0{std::string(topic::dead), 0};
const topic_partition subscribers_0{std::string(topic::subscribers), 0};

class embedded_log : public ::testing::Test {
  protected:
    result<void> try_open(const fs::path& folder) {
        x_log.reset();
        auto opened = storage::embedded_log::make_embedded_log(folder, x_options, x_clock);
        if (!opened) return opened.error();
        x_log = std::move(*opened);
        return x_log->create_topics();
    }
    void open(const fs::path& folder) {
        const result<void> opened = try_open(folder);
        ASSERT_TRUE(opened) << opened.error().message;
    }
    void open() { open(x_folder / "log"); }

    result<std::int64_t> append(const topic_partition& where, std::string key,
                                std::optional<std::string> value) {
        std::promise<result<std::int64_t>> answer;
        const auto producer = x_log->open_producer(producer_kind::ordinary);
        const result<void> taken =
            producer->append(where, std::move(key), std::move(value),
                             [&](result<std::int64_t> got) { answer.set_value(std::move(got)); });
        if (!taken) return taken.error();
        return answer.get_future().get();
    }
    void append_many(const topic_partition& where, int count, std::size_t value_bytes) {
        std::mutex mutex;
        std::condition_variable changed;
        int waiting = 0;
        int failed = 0;
        const auto producer = x_log->open_producer(producer_kind::ordinary);
        for (int i = 0; i < count; ++i) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return waiting < 4'096; });
            ++waiting;
            lock.unlock();
            const result<void> taken =
                producer->append(where, std::to_string(i), std::string(value_bytes, 'v'),
                                 [&](const result<std::int64_t>& got) {
                                     std::lock_guard inner(mutex);
                                     --waiting;
                                     failed += got ? 0 : 1;
                                     changed.notify_one();
                                 });
            ASSERT_TRUE(taken);
        }
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return waiting == 0; });
        ASSERT_EQ(failed, 0);
    }
    /// Everything from `from` on, or the error that prevents it.
    result<std::vector<record>> read(const topic_partition& where, std::int64_t from) {
        const auto reader = x_log->open_reader(where, from);
        std::vector<record> found;
        while (true) {
            result<read_batch> batch = reader->poll(1'000, 0);
            if (!batch) return batch.error();
            std::move(batch->records.begin(), batch->records.end(), std::back_inserter(found));
            if (batch->at_end) return found;
        }
    }
    std::vector<std::string> values(const topic_partition& where, std::int64_t from) {
        std::vector<std::string> found;
        const auto records = read(where, from);
        EXPECT_TRUE(records) << records.error().message;
        if (records)
            for (const record& each : *records) found.push_back(each.key + "=" + each.value.value_or("none"));
        return found;
    }
    offset_range range(const topic_partition& where) {
        std::promise<offset_range> answer;
        x_log->query_range(where, [&](const result<offset_range>& got) { answer.set_value(*got); });
        return answer.get_future().get();
    }
    /// The log's folder as kill -9 would leave it at this moment.
    fs::path copy_alive() {
        const fs::path copy = x_folder / ("copy" + std::to_string(++x_copies));
        fs::copy(x_folder / "log", copy, fs::copy_options::recursive);
        return copy;
    }

    temporary_folder x_folder;
    runtime::manual_clock x_clock;
    storage::embedded_log::embedded_log_options x_options;
    std::unique_ptr<storage::embedded_log::embedded_log> x_log;
    int x_copies = 0;
};

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

// ---- what goes by itself

TEST_F(embedded_log, records_older_than_their_topic_keeps_them_go) {
    open();
    append_many(promote_0, 10, 10);
    append_many(commands_0, 10, 10);
    x_clock.advance_ms(13 * day_ms);
    append_many(promote_0, 5, 10);
    x_log->maintain();
    EXPECT_EQ(range(promote_0).first, 0);
    x_clock.advance_ms(1 * day_ms + 1);
    x_log->maintain();
    EXPECT_EQ(range(promote_0).first, 10);
    EXPECT_EQ(range(promote_0).next, 15);
    EXPECT_EQ(read(promote_0, 10)->size(), 5u);
    EXPECT_EQ(read(promote_0, 9).error().code, error_code::failed_precondition);
    EXPECT_EQ(read(commands_0, 0)->size(), 10u) << "commands are kept for ever";

    open();
    EXPECT_EQ(range(promote_0).first, 10);
    EXPECT_EQ(range(promote_0).next, 15);
}

// ---- the clock

std::int64_t time_of_last(const result<std::vector<record>>& records) { return records->back().time_ms; }

TEST_F(embedded_log, while_it_runs_the_wall_clock_does_not_move_its_time) {
    open();
    const std::int64_t start_ms = x_clock.wall_ms();
    for (const std::int64_t jump_ms : {400 * day_ms, -800 * day_ms}) {
        x_clock.jump_wall_ms(jump_ms);
        x_clock.advance_ms(1'000);
        ASSERT_TRUE(append(dead_0, "k", "v"));
        x_log->maintain();
    }
    EXPECT_EQ(time_of_last(read(dead_0, 0)), start_ms + 2'000);
    EXPECT_EQ(x_log->time_ms(), start_ms + 2'000);
    EXPECT_EQ(range(dead_0).first, 0);
}

TEST_F(embedded_log, a_start_follows_the_wall_clock_but_never_back) {
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    const std::int64_t first_ms = x_clock.wall_ms();
    x_clock.jump_wall_ms(20 * day_ms);
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), first_ms + 20 * day_ms);
    x_clock.jump_wall_ms(-20 * day_ms);
    open();
    x_clock.advance_ms(5'000);
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), first_ms + 20 * day_ms + 5'000) << "it goes on from there";
    EXPECT_EQ(runtime::metric_gauge(runtime::metrics::clock_off).value(), -20 * day_ms / 1'000);
}

TEST_F(embedded_log, a_clock_that_leapt_more_than_thirty_days_is_refused_unless_it_is_accepted) {
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    x_clock.jump_wall_ms(30 * day_ms + 1);
    const auto refused = try_open(x_folder / "log");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::failed_precondition);
    EXPECT_THAT(refused.error().message, HasSubstr("--accept-clock"));
    x_options.leap = storage::embedded_log::clock_leap::accepted;
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), x_clock.wall_ms());
    x_options.leap = storage::embedded_log::clock_leap::refused;
    open();
}

TEST_F(embedded_log, after_a_leap_of_over_a_day_nothing_expires_for_a_day_whatever_is_started_anew) {
    open();
    append_many(direct_0, 3, 10);  // kept for 7 days
    x_clock.advance_ms(8 * day_ms);
    open();
    ASSERT_TRUE(append(direct_0, "k", "v"));
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 0);
    x_clock.advance_ms(day_ms - 1);
    open();
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 0);
    x_clock.advance_ms(1);
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 3);
}

TEST_F(embedded_log, offsets_go_on_after_everything_has_expired) {
    open();
    append_many(promote_0, 10, 10);
    x_clock.advance_ms(30 * day_ms);
    x_log->maintain();
    open();
    EXPECT_EQ(*append(promote_0, "next", "v"), 10);
}

TEST_F(embedded_log, a_member_below_the_log_s_start_fails_and_says_where) {
    open();
    append_many(direct_0, 10, 10);
    x_clock.advance_ms(8 * day_ms);
    x_log->maintain();
    const auto member = x_log->join(std::string(group::direct), {std::string(topic::direct)});
    ASSERT_EQ(member->poll(100, 0).size(), static_cast<std::size_t>(partitions_default));
    const auto events = member->poll(100, 0);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_THAT(std::get<member_failure>(events[0]).reason.message,
                HasSubstr("offset 0 of deliveries.direct/0"));
}

TEST_F(embedded_log, compaction_spares_what_is_younger_than_its_lag_and_tombstones_for_a_day) {
    x_options.recent_bytes_max = 0;
    open();
    ASSERT_TRUE(append(subscribers_0, "a", "1"));
    ASSERT_TRUE(append(subscribers_0, "gone", "1"));
    ASSERT_TRUE(append(subscribers_0, "gone", std::nullopt));
    ASSERT_TRUE(append(subscribers_0, "a", "2"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=1", "gone=1", "gone=none", "a=2"));

    x_clock.advance_ms(3'600'001);
    ASSERT_TRUE(append(subscribers_0, "a", "3"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("gone=none", "a=3"));

    x_clock.advance_ms(day_ms);
    ASSERT_TRUE(append(subscribers_0, "b", "1"));
    ASSERT_TRUE(append(subscribers_0, "b", "2"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=1", "b=2"));

    open();
    EXPECT_EQ(range(subscribers_0).first, 0);
    EXPECT_EQ(range(subscribers_0).next, 7);
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=1", "b=2"));

    // The last record always stays: it tells the next offset.
    ASSERT_TRUE(append(subscribers_0, "b", std::nullopt));
    x_clock.advance_ms(2 * day_ms);
    x_log->maintain();
    open();
    EXPECT_EQ(range(subscribers_0).next, 8);
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=none"));
}

TEST_F(embedded_log, compaction_runs_by_itself) {
    x_options = without_lag(0);
    x_options.compaction_appends_min = 10;
    x_options.maintenance_interval_ms = 5;
    open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(subscribers_0, "a", std::to_string(i)));
    const auto deadline = steady_clock::now() + patience;
    while (read(subscribers_0, 0)->size() > 1 && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=9"));
}

// ---- damage

/// The folder's largest file with this ending.
fs::path largest(const fs::path& folder, const std::string& ending) {
    fs::path found;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.path().extension() == ending && (found.empty() || each.file_size() > fs::file_size(found)))
            found = each.path();
    return found;
}

void flip_byte(const fs::path& file, std::uintmax_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int before = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(before ^ 0x40));
    ASSERT_TRUE(bytes.good());
}

TEST_F(embedded_log, a_flipped_byte_in_the_middle_is_refused) {
    open();
    append_many(direct_0, 1'000, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    flip_byte(file, fs::file_size(file) / 2);
    const result<void> opened = try_open(copy);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
    EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
}

TEST_F(embedded_log, a_flipped_byte_in_a_table_is_found_when_it_is_read) {
    x_options.recent_bytes_max = 0;
    open();
    append_many(direct_0, 1'000, 100);
    x_log.reset();  // writes the table
    const fs::path file = largest(x_folder / "log", ".sst");
    flip_byte(file, fs::file_size(file) / 2);
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_TRUE(opened) << opened.error().message;
    const auto found = read(direct_0, 0);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, error_code::failed_precondition);
    EXPECT_THAT(found.error().message, HasSubstr("damaged"));
}

TEST_F(embedded_log, a_torn_end_is_cut_off) {
    open();
    append_many(direct_0, 100, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    fs::resize_file(file, fs::file_size(file) - 10);
    open(copy);
    const auto found = read(direct_0, 0);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_LT(found->size(), 100u);
    EXPECT_EQ(*append(direct_0, "next", "v"), static_cast<std::int64_t>(found->size()));
}

constexpr std::uintmax_t page_bytes = 4'096;

/// As after a power failure: the file has its old length, but these pages never reached the disk.
void zero_pages(const fs::path& file, std::uintmax_t first, std::uintmax_t count) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(first * page_bytes));
    const std::uintmax_t most = fs::file_size(file) - first * page_bytes;
    bytes << std::string(std::min(count * page_bytes, most), '\0');
    ASSERT_TRUE(bytes.good());
}

TEST_F(embedded_log, an_unsynced_end_of_which_the_disk_wrote_only_some_pages_is_cut_off) {
    open();
    append_many(direct_0, 100, 100);
    const std::uintmax_t synced_bytes = fs::file_size(largest(x_folder / "log", ".log"));
    append_many(promote_0, 2'000, 100);
    const fs::path alive = copy_alive();
    const std::uintmax_t first = synced_bytes / page_bytes + 1;
    const std::uintmax_t pages = fs::file_size(largest(alive, ".log")) / page_bytes + 1;
    ASSERT_GT(pages, first + 20);
    for (const auto& [from, count] : std::vector<std::pair<std::uintmax_t, std::uintmax_t>>{
             {first, 1}, {first, pages - first}, {first + 9, 3}, {pages - 2, 2}, {pages - 1, 1}}) {
        SCOPED_TRACE("pages from " + std::to_string(from) + ", " + std::to_string(count));
        const fs::path copy = x_folder / "torn";
        fs::remove_all(copy);
        fs::copy(alive, copy, fs::copy_options::recursive);
        zero_pages(largest(copy, ".log"), from, count);
        open(copy);
        EXPECT_EQ(read(direct_0, 0)->size(), 100u);
        const auto events = read(promote_0, 0);
        ASSERT_TRUE(events) << events.error().message;
        EXPECT_LT(events->size(), 2'000u);
        EXPECT_EQ(*append(promote_0, "next", "v"), static_cast<std::int64_t>(events->size()));
        open(copy);
        EXPECT_EQ(read(promote_0, 0)->size(), events->size() + 1);
        x_log.reset();
    }
}

TEST_F(embedded_log, pages_lost_before_what_was_synced_are_refused) {
    open();
    append_many(promote_0, 500, 100);
    const std::uintmax_t unsynced_bytes = fs::file_size(largest(x_folder / "log", ".log"));
    append_many(direct_0, 1, 100'000);
    append_many(promote_0, 500, 100);
    const fs::path alive = copy_alive();
    for (const std::uintmax_t page : {unsynced_bytes / page_bytes - 1, unsynced_bytes / 2 / page_bytes}) {
        SCOPED_TRACE("page " + std::to_string(page));
        const fs::path copy = x_folder / "damaged";
        fs::remove_all(copy);
        fs::copy(alive, copy, fs::copy_options::recursive);
        zero_pages(largest(copy, ".log"), page, 1);
        const result<void> opened = try_open(copy);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, error_code::failed_precondition);
        EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
    }
}

TEST_F(embedded_log, a_flipped_byte_at_the_end_is_no_torn_end) {
    open();
    append_many(direct_0, 100, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    flip_byte(file, fs::file_size(file) - 50);
    const result<void> opened = try_open(copy);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
}

TEST_F(embedded_log, missing_files_are_refused_and_no_new_log_is_begun) {
    open();
    append_many(direct_0, 100, 100);
    x_log.reset();
    fs::remove(x_folder / "log" / "CURRENT");
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
    EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
}

TEST_F(embedded_log, a_missing_table_is_refused) {
    open();
    append_many(direct_0, 100, 100);
    x_log.reset();
    fs::remove(largest(x_folder / "log", ".sst"));
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition) << opened.error().message;
}

/// While it lives, no file can grow beyond `bytes`, as if the disk were full.
class full_disk {
  public:
    explicit full_disk(std::uintmax_t bytes = 1) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &x_before);
        const rlimit small{bytes, x_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &x_before); }

  private:
    rlimit x_before{};
};

TEST_F(embedded_log, a_full_disk_is_unavailable_and_service_resumes_with_room) {
    x_options.recent_bytes_max = 0;
    open();
    append_many(direct_0, 100, 100);
    const auto strict = x_log->open_producer(producer_kind::strict);
    {
        const full_disk full;
        const auto refused = append(direct_0, "too much", std::string(10'000, 'x'));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::unavailable) << refused.error().message;
        EXPECT_EQ(append(direct_0, "still", "v").error().code, error_code::aborted)
            << "it was not even tried to write";
        ASSERT_FALSE(x_log->takes_appends());
        EXPECT_THAT(x_log->takes_appends().error().message, HasSubstr("the log cannot be written now"));
        EXPECT_EQ(x_log->takes_appends().error().message.find('/'), std::string::npos)
            << "callers of the API hear this: no folders";
        const auto readable = read(direct_0, 0);
        ASSERT_TRUE(readable) << readable.error().message;
        EXPECT_EQ(readable->size(), 100u);
        EXPECT_EQ(strict->append(direct_0, "strict", "v", [](auto) {}).error().code, error_code::aborted);
    }
    const auto deadline = steady_clock::now() + patience;
    result<std::int64_t> again = append(direct_0, "again", "v");
    while (!again && steady_clock::now() < deadline) again = append(direct_0, "again", "v");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(x_log->takes_appends());
    EXPECT_EQ(strict->append(direct_0, "k", "v", [](auto) {}).error().code, error_code::aborted)
        << "a strict producer ends with its first error";

    const auto all = read(direct_0, 0);
    ASSERT_TRUE(all);
    EXPECT_EQ(std::count_if(all->begin(), all->end(), [](const record& each) { return each.key == "99"; }),
              1);
    EXPECT_EQ(all->back().key, "again");
    EXPECT_EQ(all->back().offset, *again);
    open(copy_alive());
    EXPECT_EQ(read(direct_0, 0)->size(), all->size());
}

TEST_F(embedded_log, nothing_of_a_strict_producer_lands_after_a_write_that_failed) {
    open();
    const auto strict = x_log->open_producer(producer_kind::strict);
    const auto other = x_log->open_producer(producer_kind::ordinary);
    std::atomic<int> failed = 0;
    const auto count_failure = [&](const result<std::int64_t>& got) { failed += got ? 0 : 1; };
    const full_disk full(256 *
                         1024);  // too small for the batch that follows, large enough for what follows that
    const auto deadline = steady_clock::now() + patience;
    {
        const std::lock_guard disk_is_slow(sync_gate);
        ASSERT_TRUE(other->append(direct_0, "before", "v", [](const auto&) {}));
        while (syncs_waiting == 0 && steady_clock::now() < deadline) std::this_thread::yield();
        for (int i = 0; i < 4; ++i)  // as much as one batch takes
            ASSERT_TRUE(strict->append(direct_0, "large", std::string(1024 * 1024, 'x'), count_failure));
        ASSERT_TRUE(strict->append(direct_0, "small", "v", count_failure));
    }
    while (failed < 5 && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(failed, 5);
    while (!append(direct_0, "after", "v") && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_THAT(values(direct_0, 0), ElementsAre("before=v", "after=v"));
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

// ---- kill -9

/// What a writing process reported as acknowledged before it was killed.
struct acknowledged_record {
    std::string topic;
    std::int64_t offset = 0;
    std::string value;
};

std::vector<acknowledged_record> write_and_kill(const fs::path& folder, const std::string& name,
                                                std::size_t lines_at_least) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::string program = HERALD_LOG_WRITER;
    std::string folder_text = folder.string();
    std::string name_text = name;
    char* arguments[] = {program.data(), folder_text.data(), name_text.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);

    std::vector<acknowledged_record> found;
    FILE* lines = ::fdopen(ends[0], "r");
    char topic_name[100];
    long long offset = 0;
    char value[100];
    bool is_killed = false;
    while (std::fscanf(lines, "%99s %lld %99s", topic_name, &offset, value) == 3) {
        found.push_back({topic_name, offset, value});
        if (found.size() < lines_at_least || is_killed) continue;
        ::kill(child, SIGKILL);
        is_killed = true;
    }
    std::fclose(lines);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(is_killed) << "the writer ended by itself: " << status;
    return found;
}

TEST_F(embedded_log, kill_9_loses_nothing_that_was_acknowledged) {
    constexpr int rounds = 20;
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::size_t total = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string name = "round" + std::to_string(round);
        const auto acknowledged = write_and_kill(x_folder / "log", name, 1 + random() % 3'000);
        total += acknowledged.size();
        open();
        std::map<std::string, std::map<std::int64_t, std::string>> there;
        for (const topic_partition& where : {commands_0, direct_0, promote_0}) {
            const auto records = read(where, 0);
            ASSERT_TRUE(records) << records.error().message;
            std::map<std::string, std::uint64_t> next;
            std::int64_t offset = 0;
            for (const record& each : *records) {
                ASSERT_EQ(each.offset, offset++);
                const std::string whose = each.value->substr(0, each.value->find('/'));
                ASSERT_EQ(*each.value, whose + "/" + std::to_string(next[whose]++)) << "out of order";
                there[where.topic][each.offset] = *each.value;
            }
        }
        for (const acknowledged_record& each : acknowledged)
            ASSERT_EQ(there[each.topic][each.offset], each.value) << "in round " << round;
        x_log.reset();
    }
    std::printf("%zu acknowledged records in %d rounds\n", total, rounds);
}

}  // namespace
}  // namespace herald::test
