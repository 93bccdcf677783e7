// Protects P1 on a real Kafka: what was acknowledged survives the broker's death, nobody waits for ever, and
// service resumes by itself; a log that was wiped is noticed.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "events/log/topics.hpp"
#include "tests/broker/broker.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;

const topic_partition commands{std::string(topic::commands), 0};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The broker was away: sent or not, outcome known or not.
bool is_passing(error_code code) { return code == error_code::unavailable || code == error_code::aborted; }

/// Keeps `in_flight` appends in flight until it is stopped, and knows the result of each.
class writer {
  public:
    writer(events::log::partitioned_log& log, int in_flight)
        : x_producer(log.open_producer(producer_kind::ordinary)) {
        for (int i = 0; i < in_flight; ++i) send();
    }

    /// Sends no new ones; true when all are answered in time.
    bool stop(double seconds) {
        x_stopping = true;
        return eventually(seconds, [&] {
            std::lock_guard lock(x_mutex);
            return x_open == 0;
        });
    }
    /// Value → offset (−1: unknown) of what was acknowledged.
    std::map<std::string, std::int64_t> acknowledged() {
        std::lock_guard lock(x_mutex);
        return x_acknowledged;
    }
    std::size_t acknowledged_count() {
        std::lock_guard lock(x_mutex);
        return x_acknowledged.size();
    }
    std::map<error_code, int> errors() {
        std::lock_guard lock(x_mutex);
        return x_errors;
    }

  private:
    void send() {
        const std::string value = std::to_string(x_next++);
        {
            std::lock_guard lock(x_mutex);
            ++x_open;
        }
        const result<void> taken =
            x_producer->append(commands, "key", value, [this, value](const result<std::int64_t>& offset) {
                {
                    std::lock_guard lock(x_mutex);
                    --x_open;
                    if (offset)
                        x_acknowledged[value] = *offset;
                    else
                        ++x_errors[offset.error().code];
                }
                if (!x_stopping) send();
            });
        if (!taken) std::abort();
    }

    std::atomic<bool> x_stopping = false;
    std::atomic<int> x_next = 0;
    std::mutex x_mutex;
    int x_open = 0;
    std::map<std::string, std::int64_t> x_acknowledged;
    std::map<error_code, int> x_errors;
    std::unique_ptr<producer> x_producer;  // last: its destructor answers what is open
};

/// Reads until the reader is at the end that the leader reports.
std::map<std::string, std::vector<std::int64_t>> read_all(events::log::partitioned_log& log, reader& from) {
    std::map<std::string, std::vector<std::int64_t>> found;
    const std::int64_t end = range_or_throw(log, commands).next;
    std::int64_t next = 0;
    eventually(30, [&] {
        const result<read_batch> batch = from.poll(10'000, 100);
        if (!batch) return false;
        for (const record& each : batch->records) {
            EXPECT_TRUE(each.offset >= next) << "out of order";
            found[*each.value].push_back(each.offset);
            next = each.offset + 1;
        }
        return next >= end;
    });
    EXPECT_EQ(next, end);
    return found;
}

void expect_all_there(const std::map<std::string, std::int64_t>& acknowledged,
                      const std::map<std::string, std::vector<std::int64_t>>& found) {
    for (const auto& [value, offset] : acknowledged) {
        const auto there = found.find(value);
        ASSERT_TRUE(there != found.end()) << "lost: " << value << ", acknowledged at " << offset;
        if (offset >= 0) {
            EXPECT_EQ(there->second.front(), offset);
        }
    }
}

class kafka_recovery : public ::testing::Test {
  protected:
    void start(int nodes) {
        x_broker = broker::start_own(nodes);
        if (x_broker == nullptr) GTEST_SKIP() << "no broker can be had here (java, mvn, jars)";
        x_log = x_broker->new_log(x_prefix);
    }
    void SetUp() override { start(1); }

    std::unique_ptr<broker> x_broker;
    std::string x_prefix;
    std::unique_ptr<events::log::partitioned_log> x_log;
};

TEST_F(kafka_recovery, acknowledged_records_survive_the_kill_of_the_broker_under_load) {
    const auto follower = x_log->open_reader(commands, 0);
    writer writing(*x_log, 64);
    for (int round = 1; round <= 2; ++round) {
        const std::size_t before = writing.acknowledged_count();
        ASSERT_TRUE(eventually(20, [&] { return writing.acknowledged_count() > before + 1'000; }));
        x_broker->kill();
        x_broker->start();
    }
    const std::size_t before = writing.acknowledged_count();
    EXPECT_TRUE(eventually(20, [&] { return writing.acknowledged_count() > before + 1'000; }))
        << "does not resume";
    EXPECT_TRUE(writing.stop(20)) << "an append was never answered";
    for (const auto& [code, count] : writing.errors()) EXPECT_TRUE(is_passing(code)) << count;

    const auto fresh = x_log->open_reader(commands, 0);
    const auto found = read_all(*x_log, *fresh);
    expect_all_there(writing.acknowledged(), found);
    EXPECT_EQ(read_all(*x_log, *follower), found)
        << "a reader that was there all the time saw something else";
}

TEST_F(kafka_recovery, a_broker_that_is_away_is_an_error_in_time_and_service_resumes) {
    append_all(*x_log, commands, {"before"});
    const auto ordinary = x_log->open_producer(producer_kind::ordinary);
    const auto strict = x_log->open_producer(producer_kind::strict);
    const auto reading = x_log->open_reader(commands, 1);
    x_broker->kill();

    const auto killed = std::chrono::steady_clock::now();
    std::promise<std::pair<result<std::int64_t>, double>> given_up;
    ASSERT_TRUE(ordinary->append(commands, "key", "ordinary", [&](result<std::int64_t> answer) {
        given_up.set_value({std::move(answer), seconds_since(killed)});
    }));
    std::promise<result<std::int64_t>> kept;
    ASSERT_TRUE(strict->append(commands, "key", "strict",
                               [&](result<std::int64_t> answer) { kept.set_value(std::move(answer)); }));
    EXPECT_THROW(range_or_throw(*x_log, commands), std::runtime_error);
    EXPECT_LT(seconds_since(killed), 6);
    const result<std::int32_t> count = x_log->partitions("dead");
    ASSERT_FALSE(count);
    EXPECT_EQ(count.error().code, error_code::unavailable);
    EXPECT_TRUE(eventually(15, [&] {
        const result<read_batch> batch = reading->poll(10, 100);
        return !batch && batch.error().code == error_code::unavailable;
    })) << "the reader does not say that the log is away";
    auto answer = given_up.get_future();
    ASSERT_EQ(answer.wait_for(std::chrono::seconds(15)), std::future_status::ready);
    const auto [outcome, after_seconds] = answer.get();
    ASSERT_FALSE(outcome);
    EXPECT_TRUE(is_passing(outcome.error().code)) << "who hears of the kill too late has sent it";
    EXPECT_LT(after_seconds, 16);
    std::promise<result<std::int64_t>> never_sent;
    ASSERT_TRUE(ordinary->append(commands, "key", "never sent",
                                 [&](result<std::int64_t> told) { never_sent.set_value(std::move(told)); }));
    const result<std::int64_t> nothing = never_sent.get_future().get();
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, error_code::aborted) << nothing.error().message;

    x_broker->start();
    auto strict_answer = kept.get_future();
    ASSERT_EQ(strict_answer.wait_for(std::chrono::seconds(15)), std::future_status::ready);
    EXPECT_TRUE(strict_answer.get()) << "a strict producer gives up on nothing";
    append_all(*x_log, commands, {"after"});
    std::set<std::string> seen;
    EXPECT_TRUE(eventually(15, [&] {
        const result<read_batch> batch = reading->poll(10, 100);
        if (batch)
            for (const record& each : batch->records) seen.insert(*each.value);
        return seen.contains("strict") && seen.contains("after");
    }));
}

TEST_F(kafka_recovery, a_reader_tells_of_a_new_connection_before_it_gives_what_came_over_it) {
    append_all(*x_log, commands, {"before"});
    const auto reading = x_log->open_reader(commands, 0);
    bool is_told = false;
    const auto gives_a_record = [&] {
        const result<read_batch> batch = reading->poll(10, 100);
        is_told |= !batch;
        return batch && !batch->records.empty();
    };
    ASSERT_TRUE(eventually(10, gives_a_record));
    EXPECT_FALSE(is_told);
    x_broker->kill();
    x_broker->start();
    append_all(*x_log, commands, {"after"});
    EXPECT_TRUE(eventually(20, gives_a_record));
    EXPECT_TRUE(is_told);
}

TEST_F(kafka_recovery, a_broker_that_hangs_is_an_error_in_time_and_nothing_is_lost_or_repeated) {
    writer writing(*x_log, 64);
    ASSERT_TRUE(eventually(20, [&] { return writing.acknowledged_count() > 1'000; }));
    x_broker->hang();
    EXPECT_THROW(range_or_throw(*x_log, commands), std::runtime_error);
    EXPECT_TRUE(eventually(17, [&] {
        int given_up = 0;
        for (const auto& [code, count] : writing.errors()) given_up += is_passing(code) ? count : 0;
        return given_up >= 64;
    })) << "appends to a broker that hangs must be given up";
    x_broker->go_on();
    const std::size_t before = writing.acknowledged_count();
    EXPECT_TRUE(eventually(20, [&] { return writing.acknowledged_count() > before + 1'000; }))
        << "does not resume";
    EXPECT_TRUE(writing.stop(20)) << "an append was never answered";
    const auto fresh = x_log->open_reader(commands, 0);
    const auto found = read_all(*x_log, *fresh);
    expect_all_there(writing.acknowledged(), found);
    for (const auto& [value, offsets] : found) EXPECT_EQ(offsets.size(), 1u) << value << " is there twice";
}

TEST_F(kafka_recovery, a_log_that_was_wiped_is_final_for_its_reader_and_seen_by_questions) {
    append_all(*x_log, commands, {"1", "2", "3"});
    const auto reading = x_log->open_reader(commands, 3);
    ASSERT_TRUE(eventually(10, [&] {
        const result<read_batch> batch = reading->poll(10, 100);
        return batch && batch->at_end;
    }));
    x_broker->wipe_and_start();
    const result<void> made = x_log->create_topics();
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(range_or_throw(*x_log, commands).next, 0);
    const auto is_final = [](reader& from) {
        const result<read_batch> batch = from.poll(10, 100);
        return !batch && batch.error().code == error_code::failed_precondition;
    };
    EXPECT_TRUE(eventually(20, [&] { return is_final(*reading); }));
    EXPECT_TRUE(is_final(*reading)) << "and it stays so";
    const auto again = x_log->open_reader(commands, 3);
    EXPECT_TRUE(eventually(20, [&] { return is_final(*again); }));
}

TEST_F(kafka_recovery, closing_is_bounded_while_the_broker_is_away) {
    auto producer = x_log->open_producer(producer_kind::ordinary);
    auto reading = x_log->open_reader(commands, 0);
    auto member = x_log->join(std::string(group::direct), {std::string(topic::direct)});
    ASSERT_TRUE(eventually(20, [&] { return !member->poll(10, 20).empty(); }));
    ASSERT_TRUE(reading->poll(1, 10));
    x_broker->kill();
    std::atomic<int> answers = 0;
    ASSERT_TRUE(producer->append(commands, "key", "open", [&](const result<std::int64_t>& outcome) {
        EXPECT_FALSE(outcome);
        ++answers;
    }));
    x_log->query_range(commands, [&](const result<offset_range>& range) {
        EXPECT_FALSE(range);
        ++answers;
    });
    const auto start = std::chrono::steady_clock::now();
    producer.reset();
    EXPECT_EQ(answers, 1) << "the destructor answers what is open";
    EXPECT_LT(seconds_since(start), 1);
    reading.reset();
    EXPECT_LT(seconds_since(start), 1);
    member.reset();
    x_log.reset();
    EXPECT_LT(seconds_since(start), 12);
    EXPECT_EQ(answers, 2);
}

class kafka_cluster : public kafka_recovery {
  protected:
    void SetUp() override {
        if (std::getenv("HERALD_TEST_LONG") == nullptr) GTEST_SKIP() << "long form only (tests/run --long)";
        start(3);
    }
};

TEST_F(kafka_cluster, acknowledged_records_survive_the_kill_of_each_node_in_turn) {
    const auto follower = x_log->open_reader(commands, 0);
    writer writing(*x_log, 64);
    for (int node = 1; node <= 3; ++node) {
        const std::size_t before = writing.acknowledged_count();
        ASSERT_TRUE(eventually(30, [&] { return writing.acknowledged_count() > before + 1'000; })) << node;
        x_broker->kill(node);
        const std::size_t after = writing.acknowledged_count();
        EXPECT_TRUE(eventually(30, [&] { return writing.acknowledged_count() > after + 1'000; }))
            << "two of three nodes do not go on without node " << node;
        x_broker->start();
    }
    EXPECT_TRUE(writing.stop(20)) << "an append was never answered";
    for (const auto& [code, count] : writing.errors()) EXPECT_TRUE(is_passing(code)) << count;
    const auto fresh = x_log->open_reader(commands, 0);
    const auto found = read_all(*x_log, *fresh);
    expect_all_there(writing.acknowledged(), found);
    EXPECT_EQ(read_all(*x_log, *follower), found);
}

}  // namespace
}  // namespace herald::test
