// Protects waits: a record of a retry topic is handed over when it is due, not before, in the log's order.
#include "workers/early_records.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace workers;

events::log::record at(std::int64_t offset, std::int64_t time_ms) { return {offset, time_ms, "1", "x"}; }

struct early_records_test : testing::Test {
    early_records_test() { own.advance_ms(5'000 - own.steady_ms()); }
    void read(early_records& into, events::log::record what) {
        logs.saw(what.time_ms, own.steady_ms());
        into.add(std::move(what), own.steady_ms());
    }
    /// The offset of the record that is handed over; 0: none.
    std::int64_t take() {
        const events::log::record* due = early.due(own, logs);
        const std::int64_t offset = due == nullptr ? 0 : due->offset;
        if (due != nullptr) early.pop();
        return offset;
    }
    std::optional<std::int64_t> next_due_ms() const { return early.next_due_ms(own, logs); }

    runtime::manual_clock own{900'000'000};  // far from the log's
    log_clock logs;
    early_records early{30'000};
};

TEST_F(early_records_test, hand_on_a_record_when_its_delay_is_over) {
    logs.heard(110'000, 5'000);
    read(early, at(1, 100'000));  // 10 s of its 30 are over
    EXPECT_EQ(next_due_ms(), 25'000);
    own.advance_ms(19'999);
    EXPECT_EQ(take(), 0);
    own.advance_ms(1);
    EXPECT_EQ(take(), 1);
    EXPECT_FALSE(next_due_ms());
}

TEST_F(early_records_test, never_wait_longer_than_the_delay_from_when_they_were_read) {
    logs.heard(100'000, 5'000);
    read(early, at(1, 900'000'000));
    EXPECT_EQ(next_due_ms(), 35'000);
    own.advance_ms(10'000);
    EXPECT_EQ(next_due_ms(), 35'000);
}

TEST_F(early_records_test, keep_the_order_of_the_log) {
    logs.heard(100'000, 5'000);
    read(early, at(1, 100'000));
    read(early, at(2, 0));  // long due, but behind the first
    EXPECT_EQ(take(), 0);
    own.advance_ms(30'000);
    EXPECT_EQ(take(), 1);
    EXPECT_EQ(take(), 2);
}

TEST_F(early_records_test, without_a_delay_everything_is_due_at_once) {
    early_records undelayed(0);
    read(undelayed, at(1, 900'000'000));
    EXPECT_EQ(undelayed.due(own, logs)->offset, 1);
}

TEST_F(early_records_test, follow_the_logs_clock_as_soon_as_it_is_known) {
    read(early, at(1, 100'000));
    own.advance_ms(2'000);
    EXPECT_EQ(take(), 0) << "by this machine's clock it is long due";
    logs.heard(129'999, 7'000);
    EXPECT_EQ(take(), 0);
    EXPECT_EQ(next_due_ms(), 7'001);
    logs.heard(130'000, 7'000);
    EXPECT_EQ(take(), 1);
}

TEST_F(early_records_test,
       wait_the_whole_delay_while_the_logs_clock_is_unknown_but_once_and_not_one_after_the_other) {
    read(early, at(1, 100'000));
    own.advance_ms(29'999);
    EXPECT_EQ(take(), 0);
    own.advance_ms(1);
    EXPECT_EQ(take(), 1);
    read(early, at(2, 100'000));  // read only now: the partition was paused
    read(early, at(3, 101'000));
    EXPECT_EQ(take(), 2);
    EXPECT_EQ(take(), 0);
    EXPECT_EQ(next_due_ms(), 36'000);
}

TEST_F(early_records_test, that_look_due_as_soon_as_they_are_read_are_doubtful_until_the_end_was_asked_for) {
    logs.heard(900'000'000, 5'000);
    read(early, at(1, 100'000));
    read(early, at(2, 100'000));
    EXPECT_TRUE(early.is_doubtful(own));
    early.appended_after(own.steady_ms(), 3);
    EXPECT_FALSE(early.is_doubtful(own));
    EXPECT_EQ(take(), 1);
    EXPECT_FALSE(early.is_doubtful(own)) << "it lies before that end, too";
    EXPECT_EQ(take(), 2);
}

TEST_F(early_records_test, are_not_due_before_their_delay_since_a_moment_at_which_they_were_not_there) {
    logs.heard(900'000'000, 5'000);
    early.appended_after(5'000, 7);
    own.advance_ms(3'000);
    read(early, at(7, 100'000));
    EXPECT_EQ(take(), 0);
    EXPECT_EQ(next_due_ms(), 35'000);
    own.advance_ms(27'000);
    EXPECT_FALSE(early.is_doubtful(own)) << "it has waited here";
    EXPECT_EQ(take(), 7);
}

}  // namespace
}  // namespace herald::test
