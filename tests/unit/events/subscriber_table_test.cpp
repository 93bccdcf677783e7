// Protects P3's "where": a worker sends to the newest row that it can know, and knows how old that is.
#include "events/subscriber_table.hpp"

#include <gtest/gtest.h>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/manual_scheduler.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using namespace events::log::memory;

using presence = subscriber_table::presence;

struct switchable_faults final : memory_faults {
    bool reachable() override { return is_reachable; }
    bool is_reachable = true;
};

struct subscriber_table_test : ::testing::Test {
    subscriber_table_test() {
        EXPECT_TRUE(storage.create_topics());
        table->on_change([this] { ++changes; });
    }

    void append(std::string key, std::optional<std::string> value) {
        const topic_partition where{std::string(topic::subscribers), 0};
        ASSERT_TRUE(producer->append(where, std::move(key), std::move(value), [](const auto&) {}));
        scheduler.settle();
    }
    void append_row(std::uint64_t id, std::uint64_t revision) {
        schemas::subscriber row;
        row.webhook_id = schemas::webhook_id{id};
        row.revision = revision;
        append(subscriber_key(row.webhook_id), schemas::encode(row));
    }
    void append_head(std::uint32_t generation, std::uint64_t offset, std::uint64_t rows = 0) {
        append(std::string(subscribers_head_key),
               schemas::encode(schemas::subscribers_head{generation, offset, rows}));
    }
    std::uint64_t revision_of(std::uint64_t id) const {
        const schemas::subscriber* row = table->find(schemas::webhook_id{id});
        return row ? row->revision : 0;
    }
    presence presence_of(std::uint64_t id) const { return table->presence_of(schemas::webhook_id{id}); }

    manual_scheduler scheduler;
    memory_broker broker{scheduler.time()};
    switchable_faults faults;
    memory_log storage{broker, [this](std::function<void()> task) { scheduler.post(std::move(task)); },
                       &faults};
    std::unique_ptr<events::log::producer> producer = storage.open_producer(producer_kind::ordinary);
    std::shared_ptr<subscriber_table> table = make_subscriber_table(storage, scheduler);
    int changes = 0;
};

TEST_F(subscriber_table_test, an_empty_topic_is_read_to_its_end_and_said_so) {
    EXPECT_FALSE(table->at_end_ms());
    scheduler.settle();
    EXPECT_EQ(table->at_end_ms(), scheduler.time().steady_ms());
    EXPECT_EQ(changes, 1);
}

TEST_F(subscriber_table_test, the_highest_revision_stays_whatever_lands_after_it) {
    append_row(1, 20);
    append_row(1, 10);
    EXPECT_EQ(revision_of(1), 20u);
    append_row(1, 30);
    EXPECT_EQ(revision_of(1), 30u);
    EXPECT_EQ(presence_of(2), presence::unknown);
}

TEST_F(subscriber_table_test, a_deleted_webhook_stays_deleted_when_an_old_row_lands_late) {
    append_row(1, 20);
    append("1", std::nullopt);
    append_row(1, 20);
    EXPECT_EQ(presence_of(1), presence::deleted);
    EXPECT_EQ(table->find(schemas::webhook_id{1}), nullptr);
}

TEST_F(subscriber_table_test, the_head_never_goes_back) {
    append_head(1, 50);
    append_head(1, 40);
    EXPECT_TRUE(reaches(table->head(), 1, 50));
    EXPECT_FALSE(reaches(table->head(), 1, 51));
}

TEST_F(subscriber_table_test, the_generation_comes_before_the_offset) {
    append_head(1, 500);
    append_row(1, 400);
    append("2", std::nullopt);
    EXPECT_FALSE(reaches(table->head(), 2, 1));
    append_head(2, 3);
    EXPECT_TRUE(reaches(table->head(), 1, 999'999));
    append_row(1, 300);
    append_row(2, 300);
    EXPECT_EQ(revision_of(1), 300u) << "the snapshot that the generation was made from was older";
    EXPECT_EQ(presence_of(2), presence::present);
}

TEST_F(subscriber_table_test, a_topic_that_lost_rows_proves_no_webhook_deleted) {
    append_row(2, 20);
    append_head(1, 20, 2);  // the row of webhook 1 was lost with the previous topic
    EXPECT_FALSE(reaches(table->head(), 1, 1));
    append_row(1, 10);
    EXPECT_TRUE(reaches(table->head(), 1, 20));
    append(subscriber_key(schemas::webhook_id{2}), std::nullopt);
    EXPECT_TRUE(reaches(table->head(), 1, 20)) << "deleted, not lost";
    append_head(1, 30, 2);
    EXPECT_FALSE(reaches(table->head(), 1, 1));
    append_head(1, 30, 1);  // the publisher has counted again
    EXPECT_TRUE(reaches(table->head(), 1, 30));
}

TEST_F(subscriber_table_test, a_late_row_after_the_first_head_changes_nothing) {
    append_row(1, 20);
    append_head(1, 20);
    append_row(1, 10);
    EXPECT_EQ(revision_of(1), 20u);
}

TEST_F(subscriber_table_test, bytes_that_are_no_row_are_passed_over) {
    append("1", "\xff foreign");
    append("not a number", "");
    append("head", "\xff foreign");
    append_row(1, 10);
    EXPECT_EQ(revision_of(1), 10u);
    EXPECT_FALSE(reaches(table->head(), 1, 0));
}

TEST_F(subscriber_table_test, while_the_log_is_out_of_reach_the_table_ages_and_then_catches_up) {
    scheduler.settle();
    const std::int64_t last = *table->at_end_ms();
    faults.is_reachable = false;
    scheduler.run_for(30'000);
    EXPECT_EQ(table->at_end_ms(), last);
    faults.is_reachable = true;
    scheduler.run_for(2'000);
    EXPECT_GT(table->at_end_ms(), last + 30'000);
}

TEST_F(subscriber_table_test, a_log_out_of_reach_at_the_start_is_asked_again) {
    faults.is_reachable = false;
    const auto late = make_subscriber_table(storage, scheduler);
    scheduler.run_for(5'000);
    EXPECT_FALSE(late->at_end_ms());
    faults.is_reachable = true;
    scheduler.run_for(2'000);
    EXPECT_TRUE(late->at_end_ms());
}

TEST_F(subscriber_table_test, a_partition_that_lost_its_beginning_is_read_from_where_it_starts) {
    append_row(1, 10);
    append_row(2, 11);
    broker.trim({std::string(topic::subscribers), 0}, 1);
    const auto late = make_subscriber_table(storage, scheduler);
    scheduler.run_for(5'000);
    EXPECT_EQ(late->presence_of(schemas::webhook_id{1}), presence::unknown);
    EXPECT_EQ(late->presence_of(schemas::webhook_id{2}), presence::present);
}

TEST_F(subscriber_table_test, a_compacted_topic_gives_the_same_table) {
    append_row(1, 10);
    append_row(2, 11);
    append_row(1, 12);
    append("2", std::nullopt);
    append_head(1, 13);
    broker.compact({std::string(topic::subscribers), 0});
    const auto late = make_subscriber_table(storage, scheduler);
    scheduler.run_for(5'000);
    EXPECT_EQ(late->find(schemas::webhook_id{1})->revision, 12u);
    EXPECT_EQ(late->find(schemas::webhook_id{2}), nullptr);
    EXPECT_TRUE(late->at_end_ms());
}

TEST_F(subscriber_table_test, a_table_that_ended_hears_nothing_more) {
    scheduler.settle();
    table.reset();
    append_row(1, 10);
    scheduler.run_for(5'000);
    EXPECT_EQ(changes, 1);
}

}  // namespace
}  // namespace herald::test
