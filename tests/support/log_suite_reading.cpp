// Protects the guarantees of events/log/log.hpp, the same for every log: appending and reading.
#include "tests/support/log_suite.hpp"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/log_suite_tools.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {

using events::log::topic_partition;
using std::chrono::steady_clock;

TEST_P(log_suite, records_are_read_back_in_order_byte_for_byte) {
    const std::int64_t end = end_of(log(), promote_3);
    std::string every_byte;
    for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
    const std::vector<sent_record> sent{
        {mark() + "plain", "value"},
        {mark() + every_byte, every_byte},
        {mark() + "empty value", ""},
        {mark() + "tombstone", std::nullopt},
        {mark() + "large", test::seeded_random(1).bytes(1024 * 1024)},
        {mark() + "plain", "the same key again"},
    };
    append_all(log(), promote_3, sent);
    expect_same(read_marked(log(), promote_3, end, mark(), sent.size()), sent);
}

TEST_P(log_suite, partitions_of_one_topic_are_apart) {
    const topic_partition other{promote_3.topic, 4};
    const std::int64_t end = end_of(log(), promote_3);
    const std::int64_t other_end = end_of(log(), other);
    append_all(log(), promote_3, {{mark() + "three", "3"}});
    append_all(log(), other, {{mark() + "four", "4"}});
    const auto found = read_marked(log(), other, other_end, mark(), 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key, mark() + "four");
    EXPECT_EQ(end_of(log(), promote_3), end + 1);
}

TEST_P(log_suite, offsets_of_acknowledgements_are_those_that_are_read) {
    const std::int64_t end = end_of(log(), attempts_1);
    std::vector<std::int64_t> told;
    const auto producer = log().open_producer(events::log::producer_kind::ordinary);
    for (int i = 0; i < 5; ++i) {
        const result<std::int64_t> offset =
            append_and_wait(*producer, attempts_1, mark() + std::to_string(i), "v");
        ASSERT_TRUE(offset) << offset.error().message;
        told.push_back(*offset);
    }
    const auto found = read_marked(log(), attempts_1, end, mark(), 5);
    ASSERT_EQ(found.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i)
        if (told[i] >= 0) {  // −1: the log knows only that it is there
            EXPECT_EQ(told[i], found[i].offset);
        }
}

TEST_P(log_suite, a_record_that_is_too_large_is_refused_and_the_next_is_taken) {
    const std::int64_t end = end_of(log(), promote_3);
    const auto producer = log().open_producer(events::log::producer_kind::ordinary);
    const result<std::int64_t> refused = append_and_wait(*producer, promote_3, mark() + "too large",
                                                         std::string(limits::record_bytes_max + 1, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::invalid_argument) << refused.error().message;
    ASSERT_TRUE(append_and_wait(*producer, promote_3, mark() + "fits", "v"));
    const auto found = read_marked(log(), promote_3, end, mark(), 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key, mark() + "fits");
}

TEST_P(log_suite, every_call_names_an_unknown_topic_as_such) {
    const topic_partition nowhere{"no.such.topic", 0};
    const result<std::int64_t> appended =
        append_and_wait(*log().open_producer(events::log::producer_kind::ordinary), nowhere, mark(), "v");
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().code, error_code::failed_precondition) << appended.error().message;

    const result<events::log::offset_range> range = range_of(log(), nowhere);
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().code, error_code::failed_precondition) << range.error().message;

    const result<std::int32_t> count = log().partitions(nowhere.topic);
    ASSERT_FALSE(count);
    EXPECT_EQ(count.error().code, error_code::not_found) << count.error().message;

    EXPECT_EQ(final_failure(*log().open_reader(nowhere, 0)).code, error_code::failed_precondition);
}

TEST_P(log_suite, an_unknown_partition_is_refused) {
    const topic_partition beyond{promote_3.topic, events::log::partitions_default};
    const result<std::int64_t> appended =
        append_and_wait(*log().open_producer(events::log::producer_kind::ordinary), beyond, mark(), "v");
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().code, error_code::failed_precondition) << appended.error().message;
    EXPECT_EQ(final_failure(*log().open_reader(beyond, 0)).code, error_code::failed_precondition);
}

TEST_P(log_suite, a_reader_starts_at_any_offset) {
    const std::int64_t end = end_of(log(), promote_3);
    append_all(log(), promote_3, numbered(mark(), 10));
    const auto all = read_marked(log(), promote_3, end, mark(), 10);
    ASSERT_EQ(all.size(), 10u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto rest = read_marked(log(), promote_3, all[i].offset, mark(), 10 - i);
        ASSERT_EQ(rest.size(), 10 - i);
        EXPECT_EQ(rest.front().offset, all[i].offset);
        EXPECT_EQ(rest.back().offset, all.back().offset);
    }
}

TEST_P(log_suite, a_poll_brings_no_more_records_than_asked_for) {
    const std::int64_t end = end_of(log(), promote_3);
    append_all(log(), promote_3, numbered(mark(), 10));
    const auto reader = log().open_reader(promote_3, end);
    std::size_t found = 0;
    const auto deadline = steady_clock::now() + patience;
    while (found < 10 && steady_clock::now() < deadline) {
        const result<events::log::read_batch> batch = reader->poll(3, poll_ms);
        ASSERT_TRUE(batch);
        ASSERT_LE(batch->records.size(), 3u);
        found += batch->records.size();
    }
    EXPECT_EQ(found, 10u);
}

TEST_P(log_suite, a_reader_beyond_the_end_fails_for_good) {
    const auto reader = log().open_reader(promote_3, end_of(log(), promote_3) + 5);
    EXPECT_EQ(final_failure(*reader).code, error_code::failed_precondition);
    EXPECT_EQ(final_failure(*reader).code, error_code::failed_precondition);
}

TEST_P(log_suite, a_reader_says_when_it_is_at_the_end_and_goes_on_from_there) {
    const auto reader = log().open_reader(promote_3, end_of(log(), promote_3));
    bool at_end = false;
    const auto deadline = steady_clock::now() + patience;
    while (!at_end && steady_clock::now() < deadline) {
        const result<events::log::read_batch> batch = reader->poll(10, poll_ms);
        ASSERT_TRUE(batch);
        ASSERT_TRUE(batch->records.empty());
        at_end = batch->at_end;
    }
    ASSERT_TRUE(at_end);
    append_all(log(), promote_3, {{mark() + "new", "v"}});
    EXPECT_EQ(read_marked(*reader, mark(), 1).size(), 1u);
}

TEST_P(log_suite, whoever_only_polls_when_called_reads_everything) {
    std::mutex mutex;
    std::condition_variable called;
    int calls = 0;
    const auto reader = log().open_reader(promote_3, end_of(log(), promote_3));
    reader->on_ready([&] {
        std::lock_guard lock(mutex);
        ++calls;
        called.notify_all();
    });
    ASSERT_TRUE(reader->poll(7, 0));  // nothing asks for the first one
    std::size_t found = 0;
    int seen = 0;
    for (int round = 0; round < 5; ++round) {
        append_all(log(), promote_3, numbered(mark() + std::to_string(round) + "/", 20));
        const std::size_t wanted = found + 20;
        while (found < wanted) {
            {
                std::unique_lock lock(mutex);
                ASSERT_TRUE(called.wait_for(lock, patience, [&] { return calls > seen; })) << found;
                seen = calls;
            }
            const result<events::log::read_batch> batch = reader->poll(7, 0);
            ASSERT_TRUE(batch);
            found += batch->records.size();
        }
    }
    EXPECT_EQ(found, 100u);
}

TEST_P(log_suite, a_waiting_poll_ends_when_a_record_comes) {
    const auto reader = log().open_reader(promote_3, end_of(log(), promote_3));
    std::thread writer([this] { append_all(log(), promote_3, {{mark() + "late", "v"}}); });
    EXPECT_EQ(read_marked(*reader, mark(), 1).size(), 1u);
    writer.join();
}

TEST_P(log_suite, query_range_counts_what_was_acknowledged) {
    const result<events::log::offset_range> before = range_of(log(), attempts_1);
    ASSERT_TRUE(before);
    append_all(log(), attempts_1, numbered(mark(), 3));
    const result<events::log::offset_range> after = range_of(log(), attempts_1);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->first, before->first);
    EXPECT_EQ(after->next, before->next + 3);
}

TEST_P(log_suite, query_ends_answers_for_many_partitions_and_leaves_out_those_that_are_not_there) {
    append_all(log(), attempts_1, numbered(mark(), 3));
    const events::log::topic_partition missing{"attempts", 99};
    std::promise<events::log::partition_ends> answer;
    log().query_ends({attempts_1, missing, promote_3},
                     [&](events::log::partition_ends got) { answer.set_value(std::move(got)); });
    auto given = answer.get_future();
    ASSERT_EQ(given.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    const events::log::partition_ends expected{{attempts_1, end_of(log(), attempts_1)},
                                               {promote_3, end_of(log(), promote_3)}};
    EXPECT_EQ(given.get(), expected);
}

}  // namespace herald::test
