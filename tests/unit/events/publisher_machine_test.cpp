// Protects P3: no row of the outbox is ever missing from its partition, whoever publishes and whatever fails,
// and `subscribers` never claims more than is true (design.md §2).
#include "events/publisher_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/limits.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "schemas/binary.hpp"
#include "tests/unit/events/fake_outbox.hpp"

namespace herald::test {
namespace {

using namespace events;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Actions as sentences.
std::string sentence(const publisher_action& what) {
    struct teller {
        std::string operator()(const action::open_producer&) const { return "open"; }
        std::string operator()(const action::close_producer&) const { return "close"; }
        std::string operator()(const action::read_tail& of) const {
            return "tail of " + std::to_string(of.where.partition);
        }
        std::string operator()(const action::read_subscribers&) const { return "read subscribers"; }
        std::string operator()(const action::append& of) const {
            if (of.where.topic != events::log::topic::subscribers) {
                const auto event = *schemas::decode<schemas::event>(of.value.value_or(""));
                return std::to_string(of.where.partition) + ": " + std::to_string(event.partition_sequence) +
                       (event.refused.empty() ? "" : " refused");
            }
            if (!of.value) return "delete " + of.key;
            if (of.key == subscribers_head_key) {
                const auto head = *schemas::decode<schemas::subscribers_head>(*of.value);
                return "head " + std::to_string(head.generation) + "/" + std::to_string(head.offset) +
                       (head.rows > 0 ? ", rows: " + std::to_string(head.rows) : "");
            }
            return of.key + " at " +
                   std::to_string(schemas::decode<schemas::subscriber>(*of.value)->revision);
        }
        std::string operator()(const action::end_read& of) const {
            return "end reading " + std::to_string(of.stream);
        }
        std::string operator()(const action::wake_at& at) const {
            return "wake at " + std::to_string(at.at_ms);
        }
    };
    return std::visit(teller{}, what);
}

struct publisher_machine_test : ::testing::Test {
    using sentences = std::vector<std::string>;

    /// Remembers tickets and epochs, so that tests can refer to partitions and records.
    sentences said(const publisher_actions& actions) {
        sentences all;
        for (const publisher_action& what : actions) {
            all.push_back(sentence(what));
            if (const auto* append = std::get_if<action::append>(&what)) in_flight.push_back(append->ticket);
            if (const auto* read = std::get_if<action::read_tail>(&what)) epoch = read->epoch;
            if (std::holds_alternative<action::close_producer>(what)) in_flight.clear();
        }
        return all;
    }
    sentences tail(std::size_t stream, std::optional<partition_tail> end) {
        return said(machine.tail_read(epoch, stream, end, now));
    }
    sentences subscribers(const topic_content& content = {}) {
        return said(machine.subscribers_read(epoch, content, now));
    }
    sentences fail(const append_ticket& ticket, const error& reason = runtime::unavailable("no answer")) {
        return said(machine.append_failed(ticket, reason, now));
    }
    sentences acknowledge_all() {
        sentences all;
        while (!in_flight.empty()) {
            const append_ticket oldest = in_flight.front();
            in_flight.erase(in_flight.begin());
            for (std::string& one : said(machine.acknowledged(oldest, now))) all.push_back(std::move(one));
        }
        return all;
    }
    /// Both partitions empty, `subscribers` empty, head written.
    void run_from_nothing() {
        said(machine.start(now));
        tail(0, std::nullopt);
        tail(1, std::nullopt);
        subscribers();
        acknowledge_all();
    }

    fake_outbox state;
    publisher_machine machine{state};
    std::int64_t now = 1'000;
    std::uint64_t epoch = 0;
    std::vector<append_ticket> in_flight;
};

TEST_F(publisher_machine_test, nothing_is_appended_to_a_partition_before_its_tail_was_read) {
    state.last_sequence = {{promote_0, 1}, {promote_1, 1}};
    EXPECT_THAT(said(machine.start(now)), ElementsAre("open", "read subscribers", "tail of 0", "tail of 1"));
    EXPECT_THAT(said(machine.woken(now)), IsEmpty());
    EXPECT_THAT(tail(1, std::nullopt), ElementsAre("1: 1"));
    EXPECT_THAT(tail(0, std::nullopt), ElementsAre("0: 1"));
}

TEST_F(publisher_machine_test, each_partition_goes_on_after_its_own_last_record) {
    state.last_sequence = {{promote_0, 9}, {promote_1, 3}};
    state.published_up_to = {{promote_0, 4}, {promote_1, 3}};
    said(machine.start(now));
    EXPECT_THAT(tail(0, partition_tail{1, 7}), ElementsAre("0: 8", "0: 9"));
    EXPECT_THAT(tail(1, partition_tail{1, 1}), ElementsAre("1: 2", "1: 3"));
}

TEST_F(publisher_machine_test, an_empty_partition_goes_on_from_what_the_state_knows_as_published) {
    state.last_sequence = {{promote_0, 6}};
    state.published_up_to = {{promote_0, 4}};
    said(machine.start(now));
    EXPECT_THAT(tail(0, std::nullopt), ElementsAre("0: 5", "0: 6"));
}

TEST_F(publisher_machine_test, the_tail_of_an_earlier_generation_says_nothing_about_this_one) {
    state.generation_number = 2;
    state.last_sequence = {{promote_0, 2}};
    said(machine.start(now));
    EXPECT_THAT(tail(0, partition_tail{1, 50}), ElementsAre("0: 1", "0: 2"));
}

TEST_F(publisher_machine_test, nothing_follows_an_event_of_a_later_generation) {
    state.last_sequence = {{promote_0, 2}, {promote_1, 1}};
    said(machine.start(now));
    EXPECT_THAT(tail(0, partition_tail{2, 1}), IsEmpty());
    EXPECT_THAT(tail(1, std::nullopt), ElementsAre("1: 1"));
}

TEST_F(publisher_machine_test, an_error_closes_the_producer_and_all_tails_are_read_again) {
    state.last_sequence = {{promote_0, 3}};
    run_from_nothing();
    state.last_sequence[promote_0] = 5;
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("0: 4", "0: 5"));
    EXPECT_THAT(fail(in_flight.front()), ElementsAre("close", "wake at 1100"));
    EXPECT_THAT(said(machine.woken(now)), IsEmpty());
    now += 100;
    EXPECT_THAT(said(machine.time_passed(now)),
                ElementsAre("open", "read subscribers", "tail of 1", "tail of 0"));
    EXPECT_THAT(tail(0, partition_tail{1, 4}), ElementsAre("0: 5"));
}

TEST_F(publisher_machine_test, the_rest_after_errors_grows_to_a_bound_and_an_acknowledgement_ends_that) {
    state.last_sequence = {{promote_0, 1}};
    said(machine.start(now));
    for (const std::int64_t rest : {100, 200, 400, 800, 1'600, 3'200, 5'000, 5'000}) {
        tail(0, std::nullopt);
        EXPECT_THAT(fail(in_flight.front()), ElementsAre("close", "wake at " + std::to_string(now + rest)));
        now += rest;
        said(machine.time_passed(now));
    }
    tail(0, std::nullopt);
    acknowledge_all();
    state.last_sequence = {{promote_0, 2}};
    said(machine.woken(now));
    EXPECT_THAT(fail(in_flight.front()), ElementsAre("close", "wake at " + std::to_string(now + 100)));
}

TEST_F(publisher_machine_test, answers_of_an_earlier_producer_change_nothing) {
    state.last_sequence = {{promote_0, 1}};
    said(machine.start(now));
    tail(0, std::nullopt);
    const append_ticket old = in_flight.back();
    fail(old);
    said(machine.time_passed(now + 100));
    EXPECT_THAT(said(machine.acknowledged(old, now)), IsEmpty());
    EXPECT_THAT(fail(old), IsEmpty());
    EXPECT_THAT(machine.published(), IsEmpty());
}

TEST_F(publisher_machine_test, thirty_seconds_without_progress_count_as_an_error) {
    run_from_nothing();
    now += 60'000;
    EXPECT_THAT(said(machine.time_passed(now)), IsEmpty()) << "nothing was waited for";
    state.last_sequence = {{promote_0, 1}};
    said(machine.woken(now));
    now += limits::publisher_stall_ms_max - 1;
    EXPECT_THAT(said(machine.time_passed(now)), IsEmpty());
    now += 1;
    EXPECT_THAT(said(machine.time_passed(now)), Contains("close"));
}

TEST_F(publisher_machine_test, thirty_seconds_of_one_partition_are_enough_though_the_others_go_on) {
    run_from_nothing();
    state.last_sequence = {{promote_0, 1}};
    said(machine.woken(now));
    const append_ticket stuck = in_flight.back();
    for (std::int64_t passed = 1'000; passed < limits::publisher_stall_ms_max; passed += 1'000) {
        now += 1'000;
        ++state.last_sequence[promote_1];
        EXPECT_THAT(said(machine.woken(now)), ElementsAre("1: " + std::to_string(passed / 1'000)));
        said(machine.acknowledged(in_flight.back(), now));
        EXPECT_THAT(said(machine.time_passed(now)), IsEmpty());
    }
    now += 1'000;
    EXPECT_THAT(said(machine.time_passed(now)), Contains("close"));
    EXPECT_THAT(said(machine.acknowledged(stuck, now)), IsEmpty());
}

TEST_F(publisher_machine_test, a_tail_that_cannot_be_read_rests_by_itself_and_the_others_go_on) {
    state.last_sequence = {{promote_0, 1}, {promote_1, 1}};
    said(machine.start(now));
    for (const std::int64_t rest : {100, 200, 400}) {
        EXPECT_THAT(said(machine.read_failed(epoch, 0, runtime::unavailable("no leader"), now)),
                    ElementsAre("wake at " + std::to_string(now + rest)));
        EXPECT_THAT(said(machine.time_passed(now + rest - 1)), IsEmpty());
        now += rest;
        EXPECT_THAT(said(machine.time_passed(now)), ElementsAre("tail of 0"));
    }
    EXPECT_THAT(tail(1, std::nullopt), ElementsAre("1: 1"));
    EXPECT_THAT(tail(0, std::nullopt), ElementsAre("0: 1"));
}

TEST_F(publisher_machine_test, a_tail_that_nobody_answers_is_given_up_unless_its_read_goes_on) {
    said(machine.start(now));
    tail(1, std::nullopt);
    subscribers();
    now += limits::publisher_read_ms_max - 1;
    machine.progressed(epoch, 0, now);
    now += 1;
    EXPECT_THAT(said(machine.time_passed(now)), IsEmpty());
    now += limits::publisher_read_ms_max;
    EXPECT_THAT(said(machine.time_passed(now)),
                ElementsAre("end reading 0", "wake at " + std::to_string(now + 100)));
    now += 100;
    EXPECT_THAT(said(machine.time_passed(now)), ElementsAre("tail of 0"));
}

TEST_F(publisher_machine_test, tails_that_fail_again_and_again_take_no_place_from_the_others) {
    state.partitions = 3 * limits::publisher_tails_at_once_max;
    const std::size_t healthy = state.partitions - 1;
    state.last_sequence = {{{"events.promote", static_cast<std::int32_t>(healthy)}, 1}};
    said(machine.start(now));
    for (std::size_t stream = 0; stream < healthy; ++stream)
        said(machine.read_failed(epoch, stream, runtime::unavailable("no leader"), now));
    EXPECT_THAT(tail(healthy, std::nullopt), ElementsAre(std::to_string(healthy) + ": 1"));
}

TEST_F(publisher_machine_test, while_subscribers_cannot_be_read_events_go_on) {
    state.last_sequence = {{promote_0, 1}};
    said(machine.start(now));
    tail(0, std::nullopt);
    EXPECT_THAT(said(machine.read_failed(epoch, 2, runtime::unavailable("no leader"), now)),
                ElementsAre("wake at 1100"));
    acknowledge_all();
    state.last_sequence = {{promote_0, 2}};
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("0: 2"));
    now += 100;
    EXPECT_THAT(said(machine.time_passed(now)), ElementsAre("read subscribers"));
}

TEST_F(publisher_machine_test, a_row_that_the_log_refuses_goes_as_a_marker_of_its_sequence) {
    const error too_large = runtime::invalid_argument("too large");
    state.last_sequence = {{promote_0, 4}};
    run_from_nothing();
    state.last_sequence = {{promote_0, 7}};
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("0: 5", "0: 6", "0: 7"));
    // The log refuses the batch; sending its rows one by one shows which one is to blame.
    fail(in_flight.front(), too_large);
    said(machine.time_passed(now += 100));
    EXPECT_THAT(tail(0, partition_tail{1, 4}), ElementsAre("0: 5"));
    EXPECT_THAT(acknowledge_all().front(), "0: 6");
    EXPECT_EQ(machine.rows_refused(), 0u);

    said(machine.stop());
    said(machine.start(now));
    state.last_sequence = {{promote_0, 9}};
    tail(0, partition_tail{1, 7});
    fail(in_flight.back(), too_large);
    said(machine.time_passed(now += 100));
    EXPECT_THAT(tail(0, partition_tail{1, 7}), ElementsAre("0: 8"));
    fail(in_flight.front(), too_large);
    EXPECT_EQ(machine.rows_refused(), 1u);
    said(machine.time_passed(now += 200));
    EXPECT_THAT(tail(0, partition_tail{1, 7}), ElementsAre("0: 8 refused"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("0: 9"));
    EXPECT_EQ(machine.published().back().sequence, 9u);
    EXPECT_EQ(machine.rows_refused(), 1u);
}

TEST_F(publisher_machine_test, rows_of_a_topic_that_is_missing_are_not_taken_for_bad_ones) {
    state.last_sequence = {{promote_0, 1}};
    said(machine.start(now));
    for (int time = 0; time < 4; ++time) {
        EXPECT_THAT(tail(0, std::nullopt), ElementsAre("0: 1"));
        fail(in_flight.front(), runtime::failed_precondition("there is no such topic"));
        said(machine.time_passed(now += 5'000));
    }
    EXPECT_EQ(machine.rows_refused(), 0u);
}

TEST_F(publisher_machine_test, the_rows_read_at_once_are_bounded_in_bytes) {
    state.body_bytes = 300'000;
    state.last_sequence = {{promote_0, 100}};
    run_from_nothing();
    EXPECT_LE(state.bytes_read_at_once, limits::publisher_partition_bytes_max + state.body_bytes + 100);
    EXPECT_EQ(machine.published().back().sequence, 100u);
}

TEST_F(publisher_machine_test, a_partition_that_is_stuck_leaves_room_to_the_others) {
    state.last_sequence = {{promote_0, 5'000}, {promote_1, 5'000}};
    said(machine.start(now));
    subscribers();
    acknowledge_all();
    tail(0, std::nullopt);
    const std::size_t stuck = in_flight.size();
    EXPECT_EQ(stuck, limits::publisher_partition_records_max);
    in_flight.clear();
    tail(1, std::nullopt);
    acknowledge_all();
    ASSERT_EQ(machine.published().size(), 1u);
    EXPECT_EQ(machine.published()[0].sequence, 5'000u);
}

TEST_F(publisher_machine_test, what_is_unacknowledged_is_bounded_and_partitions_take_turns) {
    state.partitions = 12;
    for (std::int32_t partition = 0; partition < 12; ++partition)
        state.last_sequence[{"events.promote", partition}] = 1'000;
    said(machine.start(now));
    subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 0})}});
    for (std::size_t stream = 0; stream < 12; ++stream) tail(stream, std::nullopt);
    EXPECT_EQ(in_flight.size(), limits::publisher_records_in_flight_max);
    acknowledge_all();
    ASSERT_EQ(machine.published().size(), 12u);
    for (const auto& position : machine.published()) EXPECT_EQ(position.sequence, 1'000u);
}

TEST_F(publisher_machine_test, a_partition_s_rows_all_go_however_many_there_are) {
    state.last_sequence = {{promote_0, 5'000}, {promote_1, 100}};
    run_from_nothing();  // acknowledges as it goes: all is sent
    EXPECT_EQ(machine.published().size(), 2u);
    said(machine.stop());
    said(machine.start(now));
    subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 0})}});
    tail(1, std::nullopt);
    const sentences first = tail(0, std::nullopt);
    EXPECT_EQ(first.back(), "0: " + std::to_string(limits::publisher_partition_records_max));
    acknowledge_all();
    const auto done = machine.published();
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[0].sequence, 5'000u);
    EXPECT_EQ(done[1].sequence, 100u);
}

TEST_F(publisher_machine_test, a_partition_with_few_rows_waits_for_one_read_of_a_long_one_only) {
    run_from_nothing();
    state.last_sequence = {{promote_0, 5'000}, {promote_1, 1}};
    const sentences sent = said(machine.woken(now));
    const auto place = std::find(sent.begin(), sent.end(), "1: 1") - sent.begin();
    EXPECT_LE(place, static_cast<std::ptrdiff_t>(limits::publisher_rows_per_read_max));
}

TEST_F(publisher_machine_test, published_are_the_acknowledged_rows_that_the_state_does_not_know_of) {
    state.last_sequence = {{promote_0, 3}};
    said(machine.start(now));
    subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 0})}});
    tail(0, std::nullopt);
    EXPECT_THAT(machine.published(), IsEmpty());
    said(machine.acknowledged(in_flight[0], now));
    said(machine.acknowledged(in_flight[1], now));
    const auto positions = machine.published();
    ASSERT_EQ(positions.size(), 1u);
    EXPECT_EQ(positions[0].topic, "events.promote");
    EXPECT_EQ(positions[0].partition, 0u);
    EXPECT_EQ(positions[0].sequence, 2u);
    state.published_up_to = {{promote_0, 2}};
    EXPECT_THAT(machine.published(), IsEmpty());
}

TEST_F(publisher_machine_test, the_head_follows_when_every_row_before_it_is_acknowledged) {
    run_from_nothing();
    state.webhook_changes(10, 1);
    state.webhook_changes(12, 2);
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("1 at 10", "2 at 12"));
    EXPECT_THAT(said(machine.acknowledged(in_flight[0], now)), IsEmpty());
    EXPECT_THAT(said(machine.acknowledged(in_flight[1], now)), ElementsAre("head 1/12, rows: 2"));
    EXPECT_THAT(said(machine.woken(now)), IsEmpty());
}

TEST_F(publisher_machine_test, a_deleted_webhook_becomes_a_tombstone) {
    run_from_nothing();
    state.webhook_changes(10, 1);
    said(machine.woken(now));
    acknowledge_all();
    state.webhook_is_deleted(11, 1);
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("delete 1"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 1/11"));
}

TEST_F(publisher_machine_test, changes_that_come_while_rows_are_written_follow_after_the_head) {
    run_from_nothing();
    state.webhook_changes(10, 1);
    said(machine.woken(now));
    state.webhook_changes(20, 1);
    EXPECT_THAT(said(machine.woken(now)), IsEmpty());
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 1/10, rows: 1", "1 at 20", "head 1/20, rows: 1"));
}

TEST_F(publisher_machine_test, on_taking_the_claim_what_differs_from_the_state_is_rewritten) {
    for (const std::uint64_t id : {1u, 2u, 3u}) state.webhook_changes(10 + id, id);
    const auto row = [&](std::size_t index) { return schemas::encode(*state.changes[index].row); };
    schemas::subscriber late = *state.changes[1].row;
    late.revision = 5;  // a record of an earlier holder that landed after a newer one
    schemas::subscriber unknown = late;
    unknown.webhook_id = schemas::webhook_id{7};
    said(machine.start(now));
    EXPECT_THAT(subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 11})},
                             {"1", row(0)},
                             {"2", schemas::encode(late)},
                             {"7", schemas::encode(unknown)}}),
                ElementsAre("2 at 12", "3 at 13", "delete 7"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 1/13, rows: 3"));
}

TEST_F(publisher_machine_test, the_head_counts_the_rows_and_is_written_anew_when_it_counts_others) {
    state.webhook_changes(10, 1);
    state.webhook_changes(11, 2);
    const auto row = [&](std::size_t index) { return schemas::encode(*state.changes[index].row); };
    said(machine.start(now));
    EXPECT_THAT(subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 11, 1})}, {"2", row(1)}}),
                ElementsAre("1 at 10"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 1/11, rows: 2"));
    state.webhook_changes(12, 3);
    EXPECT_THAT(said(machine.woken(now)), ElementsAre("3 at 12"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 1/12, rows: 3"));
}

TEST_F(publisher_machine_test, rows_newer_than_the_state_are_left_alone) {
    state.webhook_changes(10, 1);
    schemas::subscriber newer = *state.changes[0].row;
    newer.revision = 20;
    schemas::subscriber created = newer;
    created.webhook_id = schemas::webhook_id{2};
    said(machine.start(now));
    EXPECT_THAT(subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 20, 2})},
                             {"1", schemas::encode(newer)},
                             {"2", schemas::encode(created)}}),
                IsEmpty());
}

TEST_F(publisher_machine_test, a_new_generation_says_so_before_its_rows) {
    state.generation_number = 2;
    state.webhook_changes(10, 1);
    schemas::subscriber later = *state.changes[0].row;
    later.revision = 5'000;
    said(machine.start(now));
    EXPECT_THAT(subscribers({{"head", schemas::encode(schemas::subscribers_head{1, 5'000})},
                             {"1", schemas::encode(later)}}),
                ElementsAre("head 2/0", "1 at 10"));
    EXPECT_THAT(acknowledge_all(), ElementsAre("head 2/10, rows: 1"));
}

TEST_F(publisher_machine_test, the_topic_is_compared_again_every_ten_minutes) {
    run_from_nothing();
    now += limits::subscribers_compare_interval_ms - 1;
    EXPECT_THAT(said(machine.time_passed(now)), IsEmpty());
    now += 1;
    EXPECT_THAT(said(machine.time_passed(now)), ElementsAre("read subscribers"));
    EXPECT_THAT(said(machine.time_passed(now)), IsEmpty());
    EXPECT_THAT(subscribers({{"9", ""}}), ElementsAre("head 1/0", "delete 9"));
}

TEST_F(publisher_machine_test, a_stopped_one_does_nothing_and_can_start_again) {
    state.last_sequence = {{promote_0, 1}};
    run_from_nothing();
    EXPECT_THAT(said(machine.stop()), ElementsAre("close"));
    state.last_sequence = {{promote_0, 2}};
    EXPECT_THAT(said(machine.woken(now)), IsEmpty());
    EXPECT_THAT(said(machine.time_passed(now + 100'000)), IsEmpty());
    EXPECT_THAT(said(machine.stop()), IsEmpty());
    said(machine.start(now));
    EXPECT_THAT(tail(0, partition_tail{1, 1}), ElementsAre("0: 2"));
}

}  // namespace
}  // namespace herald::test
