// Protects the guarantees of events/log/log.hpp, the same for every log.
#include "tests/support/log_suite.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "events/log/limits.hpp"
#include "events/log/topics.hpp"
#include "runtime/random.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using events::log::topic_partition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t poll_ms = 50;

const topic_partition promote_3{std::string(events::log::topic::promote), 3};
const topic_partition attempts_1{std::string(events::log::topic::attempts), 1};
const topic_partition subscribers_0{std::string(events::log::topic::subscribers), 0};

struct sent_record {
    std::string key;
    std::optional<std::string> value;
};

/// Collects answers to appends; outlives the producers that use it.
class answers {
  public:
    events::log::append_handler next() {
        std::lock_guard lock(x_mutex);
        const std::size_t index = x_answers.size();
        x_answers.emplace_back();
        return [this, index](result<std::int64_t> answer) {
            std::lock_guard inner(x_mutex);
            x_answers[index].push_back(std::move(answer));
            ++x_count;
            x_changed.notify_all();
        };
    }
    /// True when all handlers were answered in time.
    bool wait() {
        std::unique_lock lock(x_mutex);
        return x_changed.wait_for(lock, patience, [this] { return x_count >= x_answers.size(); });
    }
    /// For each handler, in order of next(), the values it was called with.
    std::deque<std::vector<result<std::int64_t>>> all() {
        std::lock_guard lock(x_mutex);
        return x_answers;
    }

  private:
    std::mutex x_mutex;
    std::condition_variable x_changed;
    std::deque<std::vector<result<std::int64_t>>> x_answers;
    std::size_t x_count = 0;
};

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

/// Appends all and waits for their acknowledgements.
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

/// Reads until `count` records with keys starting with `mark` have arrived, or patience ends.
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

/// Polls until poll() fails for good; fails the test when it never does.
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

/// A member of a group and what it received.
class follower {
  public:
    follower(events::log::partitioned_log& log, std::string_view group,
             const std::vector<std::string>& topics)
        : x_member(log.join(std::string(group), topics)) {}

    /// Polls once.
    void poll(std::size_t events_max = 100) {
        for (events::log::member_event& event : x_member->poll(events_max, poll_ms)) take(std::move(event));
    }
    /// Polls until `done` or patience ends.
    bool poll_until(const std::function<bool()>& done) {
        const auto deadline = steady_clock::now() + patience;
        while (!done() && steady_clock::now() < deadline) poll();
        return done();
    }
    bool wait_for_assignment(std::size_t count) {
        return poll_until([&] { return x_assigned.size() == count; });
    }
    bool wait_for(const std::string& mark, std::size_t count) {
        return poll_until([&] { return marked(mark).size() >= count; });
    }
    std::vector<events::log::consumed> marked(const std::string& mark) const {
        std::vector<events::log::consumed> found;
        for (const events::log::consumed& each : x_consumed)
            if (each.what.key.starts_with(mark)) found.push_back(each);
        return found;
    }
    void forget() { x_consumed.clear(); }
    /// Everything consumed counts as done.
    void commit(const std::string& metadata) {
        std::map<topic_partition, std::int64_t> next;
        for (const auto& [where, each] : x_assigned) next[where] = each.next_offset;
        for (const events::log::consumed& each : x_consumed) next[each.where] = each.what.offset + 1;
        for (const auto& [where, offset] : next)
            x_member->commit(where, x_assigned.at(where).epoch, offset, metadata);
    }

    events::log::group_member& member() { return *x_member; }
    const std::map<topic_partition, events::log::assigned>& assigned() const { return x_assigned; }
    const std::vector<error>& failures() const { return x_failures; }

  private:
    void take(events::log::member_event event) {
        if (const auto* got = std::get_if<events::log::assigned>(&event)) {
            x_assigned[got->where] = *got;
            x_position[got->where] = got->next_offset;
        } else if (const auto* lost = std::get_if<events::log::revoked>(&event)) {
            EXPECT_EQ(x_assigned.count(lost->where), 1u);
            x_assigned.erase(lost->where);
        } else if (auto* each = std::get_if<events::log::consumed>(&event)) {
            ASSERT_EQ(x_assigned.count(each->where), 1u) << "a record of a partition that is not assigned";
            EXPECT_EQ(each->epoch, x_assigned[each->where].epoch);
            EXPECT_GE(each->what.offset, x_position[each->where]);
            x_position[each->where] = each->what.offset + 1;
            x_consumed.push_back(std::move(*each));
        } else {
            x_failures.push_back(std::get<events::log::member_failure>(event).reason);
        }
    }

    std::unique_ptr<events::log::group_member> x_member;
    std::map<topic_partition, events::log::assigned> x_assigned;
    std::map<topic_partition, std::int64_t> x_position;
    std::vector<events::log::consumed> x_consumed;
    std::vector<error> x_failures;
};

const std::vector<std::string> direct_topics{std::string(events::log::topic::direct),
                                             std::string(events::log::topic::replay)};
constexpr auto direct_partitions = static_cast<std::size_t>(2 * events::log::partitions_default);

topic_partition direct(std::int32_t partition) {
    return {std::string(events::log::topic::direct), partition};
}

}  // namespace

std::string log_name(const ::testing::TestParamInfo<log_factory>& info) { return info.param.name; }

void log_suite::SetUp() {
    result<std::unique_ptr<log_fixture>> made = GetParam().make();
    if (!made) GTEST_SKIP() << GetParam().name << ": " << made.error().message;
    x_fixture = std::move(*made);
    x_mark = runtime::uuid_text(runtime::system_random().uuid()) + "/";
    const result<void> created = log().create_topics();
    ASSERT_TRUE(created) << created.error().message;
}

// ---- appending and reading

TEST_P(log_suite, records_are_read_back_in_order_byte_for_byte) {
    const std::int64_t end = end_of(log(), promote_3);
    std::string every_byte;
    for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
    const std::vector<sent_record> sent{
        {mark() + "plain", "value"},
        {mark() + every_byte, every_byte},
        {mark() + "empty value", ""},
        {mark() + "tombstone", std::nullopt},
        {mark() + "large", runtime::seeded_random(1).bytes(1024 * 1024)},
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

// ---- producers

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

// ---- groups

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

// ---- the log as a whole

TEST_P(log_suite, creating_the_topics_again_changes_nothing) {
    const std::int64_t end = end_of(log(), promote_3);
    append_all(log(), promote_3, {{mark() + "kept", "v"}});
    ASSERT_TRUE(log().create_topics());
    for (const events::log::topic_settings& each : events::log::all_topics) {
        const result<std::int32_t> count = log().partitions(std::string(each.name));
        ASSERT_TRUE(count) << each.name;
        EXPECT_EQ(*count, each.partitions) << each.name;
    }
    EXPECT_EQ(read_marked(log(), promote_3, end, mark(), 1).size(), 1u);
}

TEST_P(log_suite, a_restart_keeps_records_and_commits) {
    const std::int64_t end = end_of(log(), promote_3);
    const std::vector<sent_record> sent = numbered(mark(), 100);
    append_all(log(), promote_3, sent);
    std::int64_t committed = 0;
    {
        follower member(log(), events::log::group::direct, direct_topics);
        ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
        append_all(log(), direct(9), numbered(mark(), 5));
        ASSERT_TRUE(member.wait_for(mark(), 5));
        committed = member.marked(mark())[2].what.offset + 1;
        member.member().commit(direct(9), member.assigned().at(direct(9)).epoch, committed, "before");
    }
    if (!x_fixture->restart()) GTEST_SKIP() << "this log cannot be restarted here";

    EXPECT_EQ(end_of(log(), promote_3), end + 100);
    expect_same(read_marked(log(), promote_3, end, mark(), sent.size()), sent);
    follower member(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    EXPECT_EQ(member.assigned().at(direct(9)).next_offset, committed);
    EXPECT_EQ(member.assigned().at(direct(9)).metadata, "before");
    ASSERT_TRUE(member.wait_for(mark(), 2));
    member.commit("");
    append_all(log(), promote_3, {{mark() + "after", "v"}});
    EXPECT_EQ(end_of(log(), promote_3), end + 101);
}

TEST_P(log_suite, a_hard_stop_keeps_what_was_acknowledged) {
    const topic_partition durable = direct(10);
    const std::int64_t end = end_of(log(), durable);
    const std::vector<sent_record> sent = numbered(mark(), 100);
    append_all(log(), durable, sent);
    if (!x_fixture->hard_stop()) GTEST_SKIP() << "this log cannot be killed here";
    expect_same(read_marked(log(), durable, end, mark(), sent.size()), sent);
}

TEST_P(log_suite, compaction_keeps_the_last_value_of_each_key) {
    const std::int64_t end = end_of(log(), subscribers_0);
    for (int i = 0; i < 20; ++i)
        append_all(log(), subscribers_0,
                   {{mark() + "a", std::to_string(i)}, {mark() + "b", "b" + std::to_string(i)}});
    append_all(log(), subscribers_0, {{mark() + "c", "c"}});
    if (!x_fixture->compact()) GTEST_SKIP() << "this log cannot be made to compact";

    // The last record is beyond the reach of compaction: once it is read, everything is.
    append_all(log(), subscribers_0, {{mark() + "z", "last"}});
    const auto reader = log().open_reader(subscribers_0, end);
    std::map<std::string, std::string> last;
    std::size_t found = 0;
    const auto deadline = steady_clock::now() + patience;
    while (!last.contains(mark() + "z") && steady_clock::now() < deadline)
        for (const events::log::record& each : read_marked(*reader, mark(), 1)) {
            last[each.key] = *each.value;
            ++found;
        }
    const std::map<std::string, std::string> wanted{
        {mark() + "a", "19"}, {mark() + "b", "b19"}, {mark() + "c", "c"}, {mark() + "z", "last"}};
    EXPECT_EQ(last, wanted);
    EXPECT_LT(found, 42u) << "nothing was compacted";
    EXPECT_EQ(end_of(log(), subscribers_0), end + 42);
}

}  // namespace herald::test
