// Protects P3 where the publisher meets the log: the content of the log decides where it resumes.
#include "events/publisher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/limits.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/metrics.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/unit/events/fake_outbox.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using namespace events::log::memory;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The fates of the batches of one topic, in order; after that, all are accepted.
struct planned_faults final : memory_faults {
    batch_plan next_batch(const topic_partition& where, std::size_t waiting) override {
        if (where.topic != topic || fates.empty()) return {batch_fate::accepted, waiting};
        const batch_fate fate = fates.front();
        fates.erase(fates.begin());
        return {fate, waiting};
    }
    std::string topic = "events.promote";
    std::vector<batch_fate> fates;
};

struct publisher_test : ::testing::Test {
    publisher_test() { EXPECT_TRUE(storage.create_topics()); }

    std::vector<std::uint64_t> sequences(const topic_partition& where) const {
        std::vector<std::uint64_t> all;
        for (const record& each : broker.records(where)) {
            const auto event = schemas::decode<schemas::event>(*each.value);
            all.push_back(event ? event->partition_sequence : 0);
        }
        return all;
    }
    void append(const topic_partition& where, std::string value) {
        const auto other = storage.open_producer(producer_kind::ordinary);
        ASSERT_TRUE(other->append(where, "", std::move(value), [](const auto&) {}));
        scheduler.settle();
    }

    manual_scheduler scheduler;
    memory_broker broker{scheduler.time()};
    planned_faults faults;
    memory_log storage{broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); },
                       &faults};
    fake_outbox state;
    std::shared_ptr<publisher> work = make_publisher(storage, state, scheduler);
};

TEST_F(publisher_test, rows_are_published_in_order_and_reported) {
    state.last_sequence = {{promote_0, 3}, {promote_1, 1}};
    work->start(7);
    scheduler.settle();
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2, 3));
    EXPECT_THAT(sequences(promote_1), ElementsAre(1));
    EXPECT_EQ(work->token(), 7u);
    ASSERT_EQ(work->published().size(), 2u);
    EXPECT_EQ(work->published()[0].sequence, 3u);
}

TEST_F(publisher_test, a_new_row_is_in_the_log_before_any_time_has_passed) {
    work->start(7);
    scheduler.settle();
    const std::int64_t before = scheduler.time().steady_ms();
    state.last_sequence = {{promote_0, 1}};
    work->wake();
    scheduler.settle();
    EXPECT_THAT(sequences(promote_0), ElementsAre(1));
    EXPECT_EQ(scheduler.time().steady_ms(), before);
}

TEST_F(publisher_test, it_goes_on_after_the_last_record_that_another_left) {
    append(promote_0, state.event_with(1));
    append(promote_0, state.event_with(2));
    state.last_sequence = {{promote_0, 4}};
    work->start(7);
    scheduler.settle();
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2, 3, 4));
}

TEST_F(publisher_test, records_without_a_sequence_and_foreign_bytes_do_not_hide_the_tail) {
    append(promote_0, state.event_with(1));
    for (int count = 0; count < 40; ++count) append(promote_0, state.event_with(0));
    append(promote_0, "\xff foreign");
    state.last_sequence = {{promote_0, 2}};
    work->start(7);
    scheduler.settle();
    EXPECT_EQ(sequences(promote_0).size(), 43u);
    EXPECT_EQ(sequences(promote_0).back(), 2u);
}

TEST_F(publisher_test, a_rejected_batch_is_sent_again_and_none_goes_before_it) {
    faults.fates = {batch_fate::accepted, batch_fate::rejected};
    state.last_sequence = {{promote_0, 1}};
    work->start(7);
    scheduler.settle();
    state.last_sequence = {{promote_0, 4}};
    work->wake();
    scheduler.run_for(limits::publisher_rest_ms_base);
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2, 3, 4));
}

TEST_F(publisher_test, a_lost_answer_leads_to_no_repeat_for_the_tail_is_read) {
    faults.fates = {batch_fate::answer_lost};
    state.last_sequence = {{promote_0, 3}};
    work->start(7);
    scheduler.run_for(limits::publisher_rest_ms_base);
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2, 3));
}

TEST_F(publisher_test, silence_of_the_log_ends_the_producer_after_thirty_seconds) {
    faults.fates = {batch_fate::swallowed};
    state.last_sequence = {{promote_0, 1}};
    work->start(7);
    scheduler.run_for(limits::publisher_stall_ms_max - 1'000);
    EXPECT_THAT(sequences(promote_0), IsEmpty());
    scheduler.run_for(2'000);
    EXPECT_THAT(sequences(promote_0), ElementsAre(1));
}

TEST_F(publisher_test, an_event_that_is_too_large_for_the_log_becomes_a_marker_and_the_rest_goes_on) {
    state.last_sequence = {{promote_0, 3}};
    state.large_sequence = 2;
    work->start(7);
    scheduler.run_for(1'000);
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2, 3));
    const auto marker = *schemas::decode<schemas::event>(*broker.records(promote_0)[1].value);
    EXPECT_EQ(marker.id, "event 2");
    EXPECT_EQ(marker.body, "");
    EXPECT_THAT(marker.refused, ::testing::HasSubstr("too large"));
    EXPECT_THAT(runtime::metrics_text(), ::testing::HasSubstr("herald_events_refused_total 1\n"));
}

TEST_F(publisher_test, a_late_batch_of_a_dead_producer_leaves_no_hole) {
    faults.fates = {batch_fate::held};
    state.last_sequence = {{promote_0, 2}};
    work->start(7);
    scheduler.run_for(limits::publisher_rest_ms_base);
    EXPECT_THAT(sequences(promote_0), ElementsAre(1, 2));
    broker.release(0);
    work->stop();
    state.last_sequence = {{promote_0, 4}};
    work->start(8);
    scheduler.settle();
    std::uint64_t highest = 0;
    for (const std::uint64_t sequence : sequences(promote_0)) {
        EXPECT_LE(sequence, highest + 1);
        highest = std::max(highest, sequence);
    }
    EXPECT_EQ(highest, 4u);
}

TEST_F(publisher_test, a_stopped_one_publishes_nothing) {
    work->start(7);
    scheduler.settle();
    work->stop();
    state.last_sequence = {{promote_0, 1}};
    work->wake();
    scheduler.run_for(60'000);
    EXPECT_THAT(sequences(promote_0), IsEmpty());
    EXPECT_EQ(work->token(), 0u);
}

TEST_F(publisher_test, what_the_log_still_owes_after_its_end_is_harmless) {
    faults.fates = {batch_fate::swallowed};
    state.last_sequence = {{promote_0, 1}};
    work->start(7);
    work.reset();
    scheduler.run_for(60'000);
    EXPECT_THAT(sequences(promote_0), IsEmpty());
}

TEST_F(publisher_test, a_table_of_subscribers_reads_what_the_publisher_writes) {
    state.webhook_changes(10, 1);
    state.webhook_changes(11, 2);
    work->start(7);
    scheduler.settle();
    state.webhook_is_deleted(12, 1);
    work->wake();
    scheduler.settle();
    const auto table = make_subscriber_table(storage, scheduler);
    scheduler.settle();
    EXPECT_EQ(table->presence_of(schemas::webhook_id{1}), subscriber_table::presence::deleted);
    ASSERT_NE(table->find(schemas::webhook_id{2}), nullptr);
    EXPECT_EQ(table->find(schemas::webhook_id{2})->revision, 11u);
    EXPECT_TRUE(reaches(table->head(), 1, 12));
}

}  // namespace
}  // namespace herald::test
