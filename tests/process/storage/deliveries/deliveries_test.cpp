// Protects what a node knows about deliveries (design.md §3): every attempt that workers report can be found
// later, also after a restart, and a test returns its own attempt.
#include "storage/deliveries/attempts_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "events/log/topics.hpp"
#include "runtime/random.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/deliveries/trigger_calls.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/forwarding.hpp"
#include "tests/support/manual_scheduler.hpp"

namespace herald::test {
namespace {

using schemas::attempt;
using schemas::attempt_result;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;

struct attempts_test : ::testing::Test {
    void SetUp() override {
        ASSERT_TRUE(log.create_topics());
        producer = log.open_producer(events::log::producer_kind::ordinary);
        open();
    }
    void open() {
        reader.reset();
        history.reset();
        auto opened = storage::deliveries::open_delivery_history(folder / "deliveries");
        ASSERT_TRUE(opened) << opened.error().message;
        history = *std::move(opened);
    }
    void read(events::log::partitioned_log& from) {
        using storage::deliveries::attempts_reader;
        reader.emplace(from, events::log::partitions_default, scheduler, *history,
                       std::vector<attempts_reader::listener>{[this](const attempt&) { ++told; }});
        scheduler.settle();
    }
    void read() { read(log); }
    void report(const std::string& event, const std::string& delivery, attempt_result outcome,
                std::int64_t time_ms, std::uint64_t webhook = 1,
                schemas::delivery_source source = schemas::delivery_source::event) {
        attempt made;
        made.event_id = event;
        made.delivery_id = delivery;
        made.webhook_id.value = webhook;
        made.result = outcome;
        made.time_ms = time_ms;
        made.source = source;
        append(webhook % 12, schemas::encode(made));
    }
    void append(std::uint64_t partition, std::string bytes) {
        ASSERT_TRUE(producer->append(
            {std::string(events::log::topic::attempts), static_cast<std::int32_t>(partition)}, "",
            std::move(bytes), [](const auto&) {}));
        scheduler.settle();
    }
    std::vector<std::int64_t> times_of_delivery(const std::string& id) const {
        std::vector<std::int64_t> found;
        for (const auto& each : history->attempts_of_delivery(id)) found.push_back(each.made.time_ms);
        return found;
    }
    auto counts_of(const std::string& event) const {
        const storage::deliveries::delivery_counts counts = history->deliveries_of_event(event);
        return std::tuple(counts.pending, counts.succeeded, counts.dead, counts.skipped);
    }

    temporary_folder folder;
    manual_scheduler scheduler;
    events::log::memory::memory_broker broker{scheduler.time()};
    events::log::memory::memory_log log{
        broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); }};
    std::unique_ptr<events::log::producer> producer;
    std::unique_ptr<storage::deliveries::delivery_history> history;
    std::optional<storage::deliveries::attempts_reader> reader;
    int told = 0;
};

/// Some leaders answer only when the test allows it.
class half_silent_log final : public forwarding_log {
  public:
    half_silent_log(partitioned_log& to, std::int32_t silent_below)
        : forwarding_log(to), x_silent_below(silent_below) {}
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (where.partition >= x_silent_below) return forwarding_log::query_range(where, std::move(handler));
        unanswered.push_back(std::move(handler));
    }

    std::vector<events::log::range_handler> unanswered;

  private:
    const std::int32_t x_silent_below;
};

using counts = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

TEST_F(attempts_test, a_partition_whose_leader_answers_nothing_delays_no_other) {
    half_silent_log half(log, 1);
    read(half);
    report("e", "d1", attempt_result::succeeded, 20, 1);
    report("e", "d2", attempt_result::dead, 20, 2);
    EXPECT_EQ(counts_of("e"), counts(0, 1, 1, 0));
    reader.reset();  // before its log
}

TEST_F(attempts_test, each_delivery_of_an_event_counts_once_by_its_newest_attempt) {
    read();
    report("e", "d1", attempt_result::will_retry, 10, 1);
    report("e", "d1", attempt_result::succeeded, 20, 1);
    report("e", "d2", attempt_result::will_retry, 10, 2);
    report("e", "d3", attempt_result::dead, 10, 3);
    report("e", "d4", attempt_result::will_retry, 5, 4);
    report("e", "d4", attempt_result::skipped, 10, 4);
    report("e", "d5", attempt_result::held, 10, 5);
    report("e", "t", attempt_result::dead, 10, 6, schemas::delivery_source::test);
    report("e2", "d6", attempt_result::succeeded, 10, 7);
    EXPECT_EQ(counts_of("e"), counts(2, 1, 1, 1));
    EXPECT_EQ(counts_of("e2"), counts(0, 1, 0, 0));
    EXPECT_EQ(counts_of("none"), counts(0, 0, 0, 0));
}

TEST_F(attempts_test, attempts_are_listed_by_delivery) {
    read();
    for (const std::int64_t time_ms : {10, 20, 30}) report("e", "d", attempt_result::will_retry, time_ms, 4);
    report("e", "d0", attempt_result::will_retry, 15, 4);
    report("e", "dd", attempt_result::will_retry, 15, 5);
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10, 20, 30));
    EXPECT_THAT(times_of_delivery("d0"), ElementsAre(15));
}

TEST_F(attempts_test, after_a_restart_it_goes_on_where_it_was) {
    read();
    report("e", "d", attempt_result::will_retry, 10);
    open();
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10));
    told = 0;
    read();
    report("e", "d", attempt_result::succeeded, 20);
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10, 20));
    EXPECT_EQ(told, 1);
}

TEST_F(attempts_test, records_that_retention_took_are_not_waited_for) {
    for (const std::int64_t time_ms : {10, 20, 30}) report("e", "d", attempt_result::will_retry, time_ms, 1);
    broker.trim({std::string(events::log::topic::attempts), 1}, 2);
    EXPECT_EQ(history->complete_from_ms(), 0);
    read();
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(30));
    EXPECT_EQ(history->complete_from_ms(),
              broker.records({std::string(events::log::topic::attempts), 1}).front().time_ms);
}

TEST_F(attempts_test, a_record_that_is_no_attempt_is_passed_over) {
    read();
    append(1, "\xff\xff");
    report("e", "d", attempt_result::succeeded, 10, 1);
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10));
}

TEST_F(attempts_test, a_damaged_database_is_begun_anew_from_the_topic) {
    read();
    report("e", "d", attempt_result::succeeded, 10, 1);
    reader.reset();
    history.reset();
    for (const auto& file : std::filesystem::directory_iterator(folder / "deliveries"))
        if (file.path().filename().string().starts_with("MANIFEST"))
            std::filesystem::resize_file(file.path(), file.file_size() / 2);
    std::ofstream(folder / "deliveries" / "CURRENT") << "nonsense";
    open();
    read();
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10));
}

TEST_F(attempts_test, a_missing_table_is_damage_too) {
    read();
    report("e", "d", attempt_result::succeeded, 10, 1);
    for (int i = 0; i < 2; ++i) open();  // what was in the write-ahead log is in a table now
    reader.reset();
    history.reset();
    std::size_t tables = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / "deliveries"))
        if (file.path().extension() == ".sst" && std::filesystem::remove(file.path())) ++tables;
    ASSERT_GT(tables, 0u);
    open();
    read();
    EXPECT_THAT(times_of_delivery("d"), ElementsAre(10));
}

TEST_F(attempts_test, a_leaders_answer_that_comes_after_the_end_does_nothing) {
    half_silent_log silent(log, events::log::partitions_default);
    read(silent);
    reader.reset();
    history.reset();
    ASSERT_EQ(silent.unanswered.size(), static_cast<std::size_t>(events::log::partitions_default));
    for (const auto& answer : silent.unanswered) answer(events::log::offset_range{0, 1});
    scheduler.settle();
}

struct trigger_calls_test : ::testing::Test {
    void SetUp() override { ASSERT_TRUE(log.create_topics()); }
    /// What was sent to workers.
    std::vector<schemas::delivery> direct() const {
        std::vector<schemas::delivery> found;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            for (const events::log::record& each :
                 broker.records({std::string(events::log::topic::direct), partition}))
                found.push_back(*schemas::decode<schemas::delivery>(*each.value));
        return found;
    }
    /// What the answers contain: a status, or an error's code.
    storage::deliveries::trigger_calls::attempt_handler note() {
        return [this](const result<attempt>& made) {
            answers.push_back(made ? std::to_string(made->status)
                                   : std::string(runtime::name_of(made.error().code)));
        };
    }

    manual_scheduler scheduler;
    events::log::memory::memory_broker broker{scheduler.time()};
    events::log::memory::memory_log log{
        broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); }};
    std::vector<std::string> answers;
    std::shared_ptr<storage::deliveries::trigger_calls> calls = storage::deliveries::make_trigger_calls(
        log, events::log::partitions_default, scheduler, runtime::system_random());
};

TEST_F(trigger_calls_test, a_test_gets_the_attempt_that_was_made_of_it) {
    schemas::delivery what;
    what.webhook_id.value = 3;
    what.id = "d";
    calls->send(what, note());
    scheduler.settle();
    const auto sent = direct();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].source, schemas::delivery_source::test);
    EXPECT_EQ(sent[0].deadline_ms, scheduler.time().wall_ms() + limits::test_deadline_ms);
    attempt made;
    made.status = 500;
    calls->hear(made);  // of an event
    made.call_id = "another";
    calls->hear(made);
    EXPECT_THAT(answers, IsEmpty());
    made.call_id = sent[0].call_id;
    made.status = 204;
    calls->hear(made);
    calls->hear(made);
    EXPECT_THAT(answers, ElementsAre("204"));
}

TEST_F(trigger_calls_test, a_test_that_no_worker_took_ends_at_its_deadline) {
    calls->send({}, note());
    scheduler.run_for(limits::test_deadline_ms - 1);
    EXPECT_THAT(answers, IsEmpty());
    scheduler.run_for(1);
    EXPECT_THAT(answers, ElementsAre("DEADLINE_EXCEEDED"));
}

TEST_F(trigger_calls_test, those_under_way_when_it_closes_are_answered) {
    calls->send({}, note());
    EXPECT_THAT(answers, IsEmpty());
    calls->close();
    calls->send({}, note());
    EXPECT_THAT(answers, ElementsAre("UNAVAILABLE", "UNAVAILABLE"));
}

TEST_F(trigger_calls_test, tests_under_way_are_bounded) {
    for (std::size_t i = 0; i < limits::tests_in_flight_max + 2; ++i) calls->send({}, note());
    EXPECT_THAT(answers, ElementsAre("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"));
}

}  // namespace
}  // namespace herald::test
