// Protects the log of deliveries (design.md §3): every attempt that workers report can be found again, also
// after a restart, and a test gets the attempt that was made of it.
#include "storage/deliveries/delivery_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "events/log/memory/memory_log.hpp"
#include "events/log/topics.hpp"
#include "runtime/event_loop.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/deliveries/trigger_calls.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/forwarding.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using schemas::attempt;
using schemas::attempt_result;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;

struct delivery_log_test : ::testing::Test {
    void SetUp() override {
        ASSERT_TRUE(log.create_topics());
        producer = log.open_producer(events::log::producer_kind::ordinary);
        open();
    }
    void open() {
        deliveries.reset();
        auto opened = storage::deliveries::make_delivery_log(folder / "deliveries", log);
        ASSERT_TRUE(opened) << opened.error().message;
        deliveries = *std::move(opened);
    }
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
        append(made);
    }
    void append(const attempt& made) {
        const auto partition = static_cast<std::int32_t>(made.webhook_id.value % 12);
        ASSERT_TRUE(producer->append({std::string(events::log::topic::attempts), partition}, "",
                                     schemas::encode(made), [](const auto&) {}));
    }
    std::vector<std::int64_t> times(const std::vector<attempt>& of) const {
        std::vector<std::int64_t> found;
        for (const attempt& each : of) found.push_back(each.time_ms);
        return found;
    }
    auto times_of_delivery(const std::string& id) const {
        return [this, id] { return times(deliveries->attempts_of_delivery(id)); };
    }
    auto counts_of(const std::string& event) const {
        return [this, event] {
            const storage::deliveries::delivery_counts counts = deliveries->deliveries_of_event(event);
            return std::tuple(counts.pending, counts.succeeded, counts.dead, counts.skipped);
        };
    }

    temporary_folder folder;
    events::log::memory::memory_broker broker{runtime::system_clock()};
    events::log::memory::memory_log log{broker, [](const std::function<void()>& task) { task(); }};
    std::unique_ptr<events::log::producer> producer;
    std::shared_ptr<storage::deliveries::delivery_log> deliveries;
};

/// The leader of one partition of `attempts` answers nothing.
class half_silent_log final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (where.partition != 0) return forwarding_log::query_range(where, std::move(handler));
        const std::lock_guard lock(x_mutex);
        x_unanswered.push_back(std::move(handler));
    }

  private:
    std::mutex x_mutex;
    std::vector<events::log::range_handler> x_unanswered;
};

using counts = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

TEST_F(delivery_log_test, a_partition_whose_leader_answers_nothing_delays_no_other) {
    deliveries.reset();
    half_silent_log half(log);
    auto opened = storage::deliveries::make_delivery_log(folder / "half", half);
    ASSERT_TRUE(opened) << opened.error().message;
    deliveries = *std::move(opened);
    deliveries->start();
    report("e", "d1", attempt_result::succeeded, 20, 1);
    report("e", "d2", attempt_result::dead, 20, 2);
    EXPECT_EQ(eventually(counts_of("e"), counts(0, 1, 1, 0)), counts(0, 1, 1, 0));
    deliveries.reset();
}

TEST_F(delivery_log_test, each_delivery_of_an_event_counts_once_by_its_newest_attempt) {
    deliveries->start();
    report("e", "d1", attempt_result::will_retry, 10, 1);
    report("e", "d1", attempt_result::succeeded, 20, 1);
    report("e", "d2", attempt_result::will_retry, 10, 2);
    report("e", "d3", attempt_result::dead, 10, 3);
    report("e", "d4", attempt_result::will_retry, 5, 4);
    report("e", "d4", attempt_result::skipped, 10, 4);
    report("e", "d5", attempt_result::held, 10, 5);
    report("e", "t", attempt_result::dead, 10, 6, schemas::delivery_source::test);
    report("e2", "d6", attempt_result::succeeded, 10, 7);
    EXPECT_EQ(eventually(counts_of("e"), counts(2, 1, 1, 1)), counts(2, 1, 1, 1));
    EXPECT_EQ(eventually(counts_of("e2"), counts(0, 1, 0, 0)), counts(0, 1, 0, 0));
    EXPECT_EQ(counts_of("none")(), counts(0, 0, 0, 0));
}

TEST_F(delivery_log_test, attempts_are_listed_by_delivery_and_by_webhook) {
    deliveries->start();
    for (const std::int64_t time_ms : {10, 20, 30}) report("e", "d", attempt_result::will_retry, time_ms, 4);
    report("e", "d0", attempt_result::will_retry, 15, 4);
    report("e", "dd", attempt_result::will_retry, 15, 5);
    EXPECT_THAT(eventually(times_of_delivery("d"), {10, 20, 30}), ElementsAre(10, 20, 30));
    EXPECT_THAT(eventually(times_of_delivery("d0"), {15}), ElementsAre(15));
    const schemas::webhook_id webhook{4};
    EXPECT_THAT(times(deliveries->attempts_of_webhook(webhook, 31, 10)), ElementsAre(30, 20, 15, 10));
    EXPECT_THAT(times(deliveries->attempts_of_webhook(webhook, 30, 2)), ElementsAre(20, 15));
    EXPECT_THAT(times(deliveries->attempts_of_webhook(webhook, 10, 2)), IsEmpty());
}

TEST_F(delivery_log_test, after_a_restart_it_goes_on_where_it_was) {
    deliveries->start();
    report("e", "d", attempt_result::will_retry, 10);
    eventually(times_of_delivery("d"), {10});
    open();
    EXPECT_THAT(times_of_delivery("d")(), ElementsAre(10));
    std::atomic<int> told = 0;
    deliveries->on_attempt([&](const attempt&) { ++told; });
    deliveries->start();
    report("e", "d", attempt_result::succeeded, 20);
    EXPECT_THAT(eventually(times_of_delivery("d"), {10, 20}), ElementsAre(10, 20));
    EXPECT_EQ(told, 1);
}

TEST_F(delivery_log_test, records_that_retention_took_are_not_waited_for) {
    for (const std::int64_t time_ms : {10, 20, 30}) report("e", "d", attempt_result::will_retry, time_ms, 1);
    broker.trim({std::string(events::log::topic::attempts), 1}, 2);
    deliveries->start();
    EXPECT_THAT(eventually(times_of_delivery("d"), {30}), ElementsAre(30));
}

TEST_F(delivery_log_test, a_record_that_is_no_attempt_is_passed_over) {
    deliveries->start();
    ASSERT_TRUE(
        producer->append({std::string(events::log::topic::attempts), 1}, "", "\xff\xff", [](const auto&) {}));
    report("e", "d", attempt_result::succeeded, 10, 1);
    EXPECT_THAT(eventually(times_of_delivery("d"), {10}), ElementsAre(10));
}

TEST_F(delivery_log_test, a_damaged_database_is_begun_anew_from_the_topic) {
    deliveries->start();
    report("e", "d", attempt_result::succeeded, 10, 1);
    eventually(times_of_delivery("d"), {10});
    deliveries.reset();
    for (const auto& file : std::filesystem::directory_iterator(folder / "deliveries"))
        if (file.path().filename().string().starts_with("MANIFEST"))
            std::filesystem::resize_file(file.path(), file.file_size() / 2);
    std::ofstream(folder / "deliveries" / "CURRENT") << "nonsense";
    open();
    deliveries->start();
    EXPECT_THAT(eventually(times_of_delivery("d"), {10}), ElementsAre(10));
}

TEST_F(delivery_log_test, a_missing_table_is_damage_too) {
    deliveries->start();
    report("e", "d", attempt_result::succeeded, 10, 1);
    eventually(times_of_delivery("d"), {10});
    for (int i = 0; i < 2; ++i) open();  // what was in the write-ahead log is in a table now
    deliveries.reset();
    std::size_t tables = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / "deliveries"))
        if (file.path().extension() == ".sst" && std::filesystem::remove(file.path())) ++tables;
    ASSERT_GT(tables, 0u);
    open();
    deliveries->start();
    EXPECT_THAT(eventually(times_of_delivery("d"), {10}), ElementsAre(10));
}

TEST_F(delivery_log_test, it_ends_at_once_though_the_log_is_out_of_reach) {
    struct silent_log final : forwarding_log {
        using forwarding_log::forwarding_log;
        void query_range(const events::log::topic_partition&, events::log::range_handler handler) override {
            asked.push_back(std::move(handler));
        }
        std::vector<events::log::range_handler> asked;
    };
    silent_log silent(log);
    auto opened = storage::deliveries::make_delivery_log(folder / "others", silent);
    ASSERT_TRUE(opened);
    (*opened)->start();
    const auto begun = std::chrono::steady_clock::now();
    opened->reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

struct test_deliveries_test : delivery_log_test {
    void SetUp() override {
        delivery_log_test::SetUp();
        deliveries->start();
        auto made =
            storage::deliveries::make_test_deliveries(log, *deliveries, loops[0], runtime::system_random());
        ASSERT_TRUE(made) << made.error().message;
        tests = *std::move(made);
    }
    void TearDown() override {
        tests.reset();
        loops.stop();
    }
    /// What was sent to workers.
    std::vector<schemas::delivery> direct() const {
        std::vector<schemas::delivery> found;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            for (const events::log::record& each :
                 broker.records({std::string(events::log::topic::direct), partition}))
                found.push_back(*schemas::decode<schemas::delivery>(*each.value));
        return found;
    }

    runtime::event_loops loops{runtime::event_loops_options{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::shared_ptr<storage::deliveries::test_deliveries> tests;
};

TEST_F(test_deliveries_test, a_test_gets_the_attempt_that_was_made_of_it) {
    std::promise<result<attempt>> answer;
    schemas::delivery what;
    what.webhook_id.value = 3;
    what.id = "d";
    tests->send(what, [&](result<attempt> made) { answer.set_value(std::move(made)); });
    const auto sent = direct();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].source, schemas::delivery_source::test);
    EXPECT_FALSE(sent[0].call_id.empty());
    const std::int64_t left_ms = sent[0].deadline_ms - runtime::system_clock().wall_ms();
    EXPECT_GT(left_ms, limits::test_deadline_ms - 5'000);
    EXPECT_LE(left_ms, limits::test_deadline_ms);
    attempt other;
    other.call_id = "another";
    append(other);
    attempt made;
    made.call_id = sent[0].call_id;
    made.status = 204;
    append(made);
    auto got = answer.get_future();
    ASSERT_EQ(got.wait_for(patience), std::future_status::ready);
    const auto outcome = got.get();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 204);
}

TEST_F(test_deliveries_test, those_under_way_when_it_closes_are_answered) {
    std::vector<error_code> answers;
    const auto note = [&](const result<attempt>& made) {
        answers.push_back(made ? error_code::cancelled : made.error().code);
    };
    tests->send({}, note);
    EXPECT_TRUE(answers.empty());
    tests->close();
    tests->send({}, note);
    EXPECT_THAT(answers, ElementsAre(error_code::unavailable, error_code::unavailable));
}

TEST_F(test_deliveries_test, tests_under_way_are_bounded) {
    std::atomic<std::size_t> refused = 0;
    for (std::size_t i = 0; i < limits::tests_in_flight_max + 5; ++i)
        tests->send({}, [&](const result<attempt>& made) {
            if (!made && made.error().code == error_code::resource_exhausted) ++refused;
        });
    EXPECT_EQ(refused, 5u);
}

}  // namespace
}  // namespace herald::test
