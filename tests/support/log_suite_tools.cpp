#include "tests/support/log_suite_tools.hpp"

#include <future>

namespace herald::test {

using events::log::topic_partition;
using std::chrono::steady_clock;

result<std::int64_t> append_and_wait(events::log::producer& to, const topic_partition& where, std::string key,
                                     std::optional<std::string> value) {
    const auto answer = std::make_shared<std::promise<result<std::int64_t>>>();
    std::future<result<std::int64_t>> answered = answer->get_future();
    const result<void> taken =
        to.append(where, std::move(key), std::move(value),
                  [answer](result<std::int64_t> got) { answer->set_value(std::move(got)); });
    if (!taken) return taken.error();
    if (answered.wait_for(patience) != std::future_status::ready)
        return runtime::internal("an append was not answered");
    return answered.get();
}

void append_all(events::log::partitioned_log& log, const topic_partition& where,
                const std::vector<sent_record>& records) {
    answers acknowledged;
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    for (const sent_record& each : records)
        ASSERT_TRUE(producer->append(where, each.key, each.value, acknowledged.next()));
    ASSERT_TRUE(acknowledged.wait());
    for (const auto& each : acknowledged.all()) {
        ASSERT_EQ(each.size(), 1u);
        ASSERT_TRUE(each.front()) << each.front().error().message;
    }
}

std::vector<sent_record> numbered(const std::string& mark, int count) {
    std::vector<sent_record> records;
    for (int i = 0; i < count; ++i)
        records.push_back({mark + std::to_string(i), "value " + std::to_string(i)});
    return records;
}

result<events::log::offset_range> range_of(events::log::partitioned_log& log, const topic_partition& where) {
    const auto answer = std::make_shared<std::promise<result<events::log::offset_range>>>();
    std::future<result<events::log::offset_range>> answered = answer->get_future();
    log.query_range(where, [answer](result<events::log::offset_range> got) { answer->set_value(got); });
    if (answered.wait_for(patience) != std::future_status::ready)
        return runtime::internal("query_range was not answered");
    return answered.get();
}

std::int64_t end_of(events::log::partitioned_log& log, const topic_partition& where) {
    const result<events::log::offset_range> range = range_of(log, where);
    EXPECT_TRUE(range) << range.error().message;
    return range ? range->next : 0;
}

std::vector<events::log::record> read_marked(events::log::reader& from, const std::string& mark,
                                             std::size_t count) {
    std::vector<events::log::record> found;
    const auto deadline = steady_clock::now() + patience;
    while (found.size() < count && steady_clock::now() < deadline) {
        const result<events::log::read_batch> batch = from.poll(100, poll_ms);
        if (!batch && batch.error().code == error_code::unavailable) continue;
        EXPECT_TRUE(batch) << batch.error().message;
        if (!batch) break;
        for (const events::log::record& each : batch->records)
            if (each.key.starts_with(mark)) found.push_back(each);
    }
    return found;
}

std::vector<events::log::record> read_marked(events::log::partitioned_log& log, const topic_partition& where,
                                             std::int64_t from, const std::string& mark, std::size_t count) {
    return read_marked(*log.open_reader(where, from), mark, count);
}

void expect_same(const std::vector<events::log::record>& found, const std::vector<sent_record>& sent) {
    ASSERT_EQ(found.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_TRUE(found[i].key == sent[i].key) << "key of record " << i;
        EXPECT_EQ(found[i].value.has_value(), sent[i].value.has_value()) << "record " << i;
        EXPECT_TRUE(found[i].value == sent[i].value) << "value of record " << i;
        EXPECT_GT(found[i].time_ms, 0);
        if (i > 0) {
            EXPECT_GT(found[i].offset, found[i - 1].offset);
        }
    }
}

error final_failure(events::log::reader& from) {
    const auto deadline = steady_clock::now() + patience;
    while (steady_clock::now() < deadline) {
        const result<events::log::read_batch> batch = from.poll(100, poll_ms);
        if (!batch && batch.error().code != error_code::unavailable) return batch.error();
        EXPECT_TRUE(!batch || batch->records.empty());
    }
    ADD_FAILURE() << "the reader did not fail";
    return {};
}

topic_partition direct(std::int32_t partition) {
    return {std::string(events::log::topic::direct), partition};
}

}  // namespace herald::test
