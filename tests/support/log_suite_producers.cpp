// Protects the guarantees of events/log/log.hpp, the same for every log: producers.
#include "tests/support/log_suite.hpp"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/log_suite_tools.hpp"

namespace herald::test {

TEST_P(log_suite, appends_of_four_threads_are_each_there_once_in_the_order_of_their_thread) {
    constexpr int threads = 4;
    constexpr int each = 250;
    const std::int64_t end = end_of(log(), promote_3);
    answers acknowledged;
    {
        const auto producer = log().open_producer(events::log::producer_kind::ordinary);
        std::vector<std::thread> writers;
        std::atomic<int> refused = 0;
        for (int t = 0; t < threads; ++t)
            writers.emplace_back([&, t] {
                for (int i = 0; i < each; ++i)
                    if (!producer->append(promote_3, mark() + std::to_string(t), std::to_string(i),
                                          acknowledged.next()))
                        ++refused;
            });
        for (std::thread& writer : writers) writer.join();
        ASSERT_EQ(refused, 0);
        ASSERT_TRUE(acknowledged.wait());
    }
    const auto found = read_marked(log(), promote_3, end, mark(), threads * each);
    ASSERT_EQ(found.size(), static_cast<std::size_t>(threads * each));
    std::map<std::string, int> next;
    for (const events::log::record& record : found)
        EXPECT_EQ(*record.value, std::to_string(next[record.key]++));
    EXPECT_EQ(end_of(log(), promote_3), end + threads * each);
}

TEST_P(log_suite, destroying_a_producer_answers_every_append_once) {
    const std::int64_t end = end_of(log(), promote_3);
    answers acknowledged;
    auto producer = log().open_producer(events::log::producer_kind::ordinary);
    for (int i = 0; i < 500; ++i)
        ASSERT_TRUE(producer->append(promote_3, mark() + std::to_string(i), "v", acknowledged.next()));
    producer.reset();
    std::set<std::string> promised;
    const auto all = acknowledged.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i].size(), 1u) << "append " << i;
        if (all[i].front())
            promised.insert(mark() + std::to_string(i));
        else
            EXPECT_EQ(all[i].front().error().code, error_code::unavailable);
    }
    for (const events::log::record& record : read_marked(log(), promote_3, end, mark(), promised.size()))
        promised.erase(record.key);
    EXPECT_TRUE(promised.empty()) << *promised.begin() << " was acknowledged and is not in the log";
}

TEST_P(log_suite, a_handler_may_append_again) {
    const std::int64_t end = end_of(log(), promote_3);
    const auto producer = log().open_producer(events::log::producer_kind::ordinary);
    std::promise<bool> ended;
    std::function<void(int)> append_from = [&](int number) {
        if (number == 10) return ended.set_value(true);
        const result<void> taken =
            producer->append(promote_3, mark() + std::to_string(number), "v",
                             [&, number](const result<std::int64_t>&) { append_from(number + 1); });
        if (!taken) ended.set_value(false);
    };
    append_from(0);
    std::future<bool> answer = ended.get_future();
    ASSERT_EQ(answer.wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(answer.get());
    EXPECT_EQ(read_marked(log(), promote_3, end, mark(), 10).size(), 10u);
}

TEST_P(log_suite, a_handler_may_destroy_its_producer) {
    answers others;
    std::promise<void> destroyed;
    auto producer = log().open_producer(events::log::producer_kind::ordinary);
    std::mutex all_appended;
    {
        std::lock_guard hold(all_appended);
        ASSERT_TRUE(producer->append(promote_3, mark() + "first", "v", [&](const result<std::int64_t>&) {
            {
                std::lock_guard wait(all_appended);
                producer.reset();
            }
            destroyed.set_value();
        }));
        for (int i = 0; i < 10; ++i)
            ASSERT_TRUE(producer->append(promote_3, mark() + std::to_string(i), "v", others.next()));
    }
    ASSERT_EQ(destroyed.get_future().wait_for(patience), std::future_status::ready);
    for (const auto& each : others.all()) EXPECT_EQ(each.size(), 1u);
}

TEST_P(log_suite, a_strict_producer_keeps_the_order_of_the_calls) {
    const std::int64_t end = end_of(log(), promote_3);
    const std::vector<sent_record> sent = numbered(mark(), 200);
    answers acknowledged;
    const auto producer = log().open_producer(events::log::producer_kind::strict);
    for (const sent_record& each : sent)
        ASSERT_TRUE(producer->append(promote_3, each.key, each.value, acknowledged.next()));
    ASSERT_TRUE(acknowledged.wait());
    expect_same(read_marked(log(), promote_3, end, mark(), sent.size()), sent);
}

TEST_P(log_suite, a_strict_producer_ends_with_its_first_error) {
    const auto producer = log().open_producer(events::log::producer_kind::strict);
    ASSERT_TRUE(append_and_wait(*producer, promote_3, mark() + "good", "v"));
    ASSERT_FALSE(append_and_wait(*producer, promote_3, mark() + "too large",
                                 std::string(limits::record_bytes_max + 1, 'x')));
    const result<std::int64_t> later = append_and_wait(*producer, promote_3, mark() + "later", "v");
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, error_code::aborted) << later.error().message;
    const auto next = log().open_producer(events::log::producer_kind::strict);
    EXPECT_TRUE(append_and_wait(*next, promote_3, mark() + "of the next", "v"));
}

}  // namespace herald::test
