// Protects the Kafka producer's promises when librdkafka or the broker breaks: a mock broker answers with
// errors.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <future>
#include <string>

#include "events/log/kafka/kafka_log.hpp"
#include "events/log/topics.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using namespace events::log::kafka;

const topic_partition commands{std::string(topic::commands), 0};

class kafka_errors : public ::testing::Test {
  protected:
    static constexpr std::int16_t fetch_request = 1;

    void SetUp() override {
        char text[256];
        x_client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
        ASSERT_NE(x_client, nullptr) << text;
        x_mock = rd_kafka_mock_cluster_new(x_client, 1);
        ASSERT_EQ(rd_kafka_mock_topic_create(x_mock, "herald.registry.commands", 1, 1),
                  RD_KAFKA_RESP_ERR_NO_ERROR);
        open({});
    }
    void open(kafka_options options) {
        options.bootstrap_servers = rd_kafka_mock_cluster_bootstraps(x_mock);
        auto made = make_kafka_log(options);
        ASSERT_TRUE(made) << made.error().message;
        x_log = std::move(*made);
    }
    void TearDown() override {
        x_log.reset();
        rd_kafka_mock_cluster_destroy(x_mock);
        rd_kafka_destroy(x_client);
    }

    /// The broker's next answers to appends.
    void answer_with(std::vector<rd_kafka_resp_err_t> errors) { answer_with(0, std::move(errors)); }
    void answer_with(std::int16_t request, std::vector<rd_kafka_resp_err_t> errors) {
        rd_kafka_mock_push_request_errors_array(x_mock, request, errors.size(), errors.data());
    }

    /// The broker's answer to a fetch makes the client stop fetching for five minutes. Several answers do so:
    /// the client passes over the answer to a fetch that it has given up meanwhile.
    void make_readers_fall_silent() {
        kafka_options options;
        options.properties = {{"fetch.error.backoff.ms", "300000"}};
        open(options);
        answer_with(fetch_request, std::vector(10, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR));
    }
    void let_readers_read() { rd_kafka_mock_clear_request_errors(x_mock, fetch_request); }

    void commit_first_offset(const std::string& group) const {
        char text[256];
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(x_mock), text,
                          sizeof text);
        rd_kafka_conf_set(conf, "group.id", group.c_str(), text, sizeof text);
        rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
        ASSERT_NE(consumer, nullptr) << text;
        rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, "herald.registry.commands", 0)->offset = 0;
        EXPECT_EQ(rd_kafka_commit(consumer, list, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_topic_partition_list_destroy(list);
        rd_kafka_destroy(consumer);
    }

    static result<std::int64_t> append(producer& to, const std::string& value) {
        std::promise<result<std::int64_t>> answer;
        const result<void> taken = to.append(commands, "key", value, [&](result<std::int64_t> offset) {
            answer.set_value(std::move(offset));
        });
        if (!taken) return taken.error();
        auto answered = answer.get_future();
        if (answered.wait_for(std::chrono::seconds(20)) != std::future_status::ready) std::abort();
        return answered.get();
    }

    rd_kafka_t* x_client = nullptr;
    rd_kafka_mock_cluster_t* x_mock = nullptr;
    std::unique_ptr<partitioned_log> x_log;
};

TEST_F(kafka_errors, an_ordinary_producer_whose_client_breaks_goes_on_with_another) {
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    ASSERT_TRUE(append(*producer, "before"));
    answer_with({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});  // fatal to librdkafka
    const result<std::int64_t> open = append(*producer, "open");
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error().code, error_code::unavailable) << open.error().message;
    const result<std::int64_t> after = append(*producer, "after");
    EXPECT_TRUE(after) << after.error().message;
}

TEST_F(kafka_errors, a_strict_producer_whose_client_breaks_has_ended) {
    const auto producer = x_log->open_producer(producer_kind::strict);
    ASSERT_TRUE(append(*producer, "before"));
    answer_with({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
    for (const char* value : {"open", "later", "for ever"}) {
        const result<std::int64_t> outcome = append(*producer, value);
        ASSERT_FALSE(outcome) << value;
        EXPECT_TRUE(outcome.error().code == error_code::unavailable ||
                    outcome.error().code == error_code::aborted)
            << outcome.error().message;
    }
    EXPECT_TRUE(append(*x_log->open_producer(producer_kind::strict), "of the next one"));
}

TEST_F(kafka_errors, a_strict_producer_sends_nothing_after_a_record_that_was_refused) {
    kafka_options options;
    options.properties = {{"batch.num.messages", "1"}};  // otherwise all fail with the first, as one batch
    open(options);
    const auto producer = x_log->open_producer(producer_kind::strict);
    ASSERT_TRUE(append(*producer, "0"));
    answer_with({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
    std::promise<void> first_failed;
    std::atomic<int> succeeded = 0;
    ASSERT_TRUE(producer->append(commands, "key", "1", [&](const result<std::int64_t>& outcome) {
        if (outcome) ++succeeded;
        first_failed.set_value();
    }));
    for (int i = 0; i < 100; ++i)
        static_cast<void>(
            producer->append(commands, "key", "later", [&](const result<std::int64_t>& outcome) {
                if (outcome) ++succeeded;
            }));
    first_failed.get_future().wait();
    EXPECT_FALSE(append(*producer, "after"));
    EXPECT_EQ(succeeded, 0);
}

TEST_F(kafka_errors, a_repeat_that_the_broker_had_already_is_a_success_without_an_offset) {
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    ASSERT_TRUE(append(*producer, "before"));
    answer_with({RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER});
    const result<std::int64_t> repeat = append(*producer, "repeat");
    ASSERT_TRUE(repeat) << repeat.error().message;
    EXPECT_EQ(*repeat, -1);
}

TEST_F(kafka_errors, passing_errors_of_the_broker_are_not_seen) {
    for (const producer_kind kind : {producer_kind::ordinary, producer_kind::strict}) {
        const auto producer = x_log->open_producer(kind);
        answer_with({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                     RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
        const result<std::int64_t> outcome = append(*producer, "value");
        EXPECT_TRUE(outcome) << outcome.error().message;
    }
}

TEST_F(kafka_errors, a_record_that_the_broker_refuses_is_an_invalid_argument) {
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    answer_with({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
    const result<std::int64_t> refused = append(*producer, "too large for it");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::invalid_argument) << refused.error().message;
    EXPECT_TRUE(append(*producer, "next"));
}

TEST_F(kafka_errors, whoever_appends_as_fast_as_he_may_is_told_to_wait_and_never_fails) {
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    constexpr int all = 300'000;
    std::atomic<int> answered = 0;
    std::atomic<int> failed = 0;
    const auto count = [&](const result<std::int64_t>& outcome) {
        if (!outcome) ++failed;
        ++answered;
    };
    for (int taken = 0; taken < all;) {
        const result<void> outcome = producer->append(commands, "key", "value", count);
        if (outcome)
            ++taken;
        else
            ASSERT_EQ(outcome.error().code, error_code::resource_exhausted) << outcome.error().message;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (answered < all && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(answered, all);
    EXPECT_EQ(failed, 0);
}

TEST_F(kafka_errors, too_many_unacknowledged_are_refused_at_once) {
    const auto producer = x_log->open_producer(producer_kind::ordinary);
    std::atomic<int> answered = 0;
    int taken = 0;
    result<void> last;
    const std::string value(100'000, 'x');
    while (
        (last = producer->append(commands, "key", value, [&](const result<std::int64_t>&) { ++answered; })))
        ASSERT_LT(++taken, 1'000'000);
    EXPECT_EQ(last.error().code, error_code::resource_exhausted) << last.error().message;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (answered < taken && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(answered, taken);
    EXPECT_TRUE(append(*producer, "there is room again"));
}

TEST_F(kafka_errors, a_reader_whose_client_falls_silent_gets_another) {
    make_readers_fall_silent();
    ASSERT_TRUE(append(*x_log->open_producer(producer_kind::ordinary), "value"));
    const auto reading = x_log->open_reader(commands, 0);
    std::vector<record> found;
    const auto begun = std::chrono::steady_clock::now();
    while (found.empty() && std::chrono::steady_clock::now() < begun + std::chrono::seconds(30)) {
        // The first client has been silenced by then, and is not yet replaced.
        if (std::chrono::steady_clock::now() > begun + std::chrono::seconds(3)) let_readers_read();
        const result<read_batch> batch = reading->poll(10, 100);
        if (batch) found = batch->records;
    }
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].value, "value");
}

TEST_F(kafka_errors, a_member_whose_client_falls_silent_joins_again) {
    commit_first_offset("herald.herald-test");
    make_readers_fall_silent();
    ASSERT_TRUE(append(*x_log->open_producer(producer_kind::ordinary), "value"));
    const auto member = x_log->join("herald-test", {commands.topic});
    std::vector<std::string> told;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    while ((told.empty() || told.back() != "value") && std::chrono::steady_clock::now() < deadline)
        for (const member_event& event : member->poll(10, 100)) {
            if (const auto* got = std::get_if<assigned>(&event))
                told.push_back("assigned " + std::to_string(got->epoch));
            if (const auto* lost = std::get_if<revoked>(&event)) {
                told.push_back("revoked " + std::to_string(lost->epoch));
                let_readers_read();
            }
            if (const auto* taken = std::get_if<consumed>(&event)) told.push_back(*taken->what.value);
            if (const auto* failed = std::get_if<member_failure>(&event))
                told.push_back(failed->reason.message);
        }
    EXPECT_EQ(told, (std::vector<std::string>{"assigned 1", "revoked 1", "assigned 2", "value"}));
}

}  // namespace
}  // namespace herald::test
