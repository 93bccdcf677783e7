// Protects the lists of deliveries (wire.md §7 "Deliveries"): each filter, alone and with others, shows
// exactly what matches, page by page; totals and the histogram count the same; a replay's deliveries count
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/deliveries/delivery_history.hpp"
#include "storage/deliveries/history_keys.hpp"
#include "storage/deliveries/limits.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using namespace storage::deliveries;
using schemas::attempt_result;
using schemas::delivery_error;
using schemas::delivery_row;
using schemas::delivery_state;
using schemas::event_type;
using schemas::resource_type;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t noon_ms = 1'764'244'800'000;  // a whole hour
constexpr std::int64_t minute_ms = 60'000;

struct history_test : ::testing::Test {
    void SetUp() override { open(); }
    void open() {
        history.reset();
        auto opened = open_delivery_history(folder / "deliveries");
        ASSERT_TRUE(opened) << opened.error().message;
        history = *std::move(opened);
    }
    /// An attempt of the number's delivery; what is not said is the same for all.
    static schemas::attempt attempt_of(std::size_t number) {
        schemas::attempt made;
        made.event_id = "1-" + std::to_string(number);
        made.webhook_id.value = 1 + number % 3;
        made.delivery_id = schemas::delivery_id(made.event_id, made.webhook_id);
        made.event_type = number % 2 == 0 ? event_type::promote : event_type::update;
        made.resource_type = resource_type::registered_model_version;
        made.resource_id = std::to_string(number % 5);
        made.workspace_id.value = 1;
        made.time_event_ms = noon_ms + static_cast<std::int64_t>(number / 4) * minute_ms;
        made.time_ms = made.time_event_ms + 10;
        made.number = 1;
        made.status = 200;
        return made;
    }
    void keep(const schemas::attempt& made) {
        history->keep(0, {{next_offset, made}}, next_offset + 1);
        ++next_offset;
    }

    /// One of each: delivered, waiting after a 503, dead after a 404, dead without an answer.
    static schemas::attempt some_attempt(std::size_t number) {
        schemas::attempt made = attempt_of(number);
        switch (number % 7) {
            case 0:
                made.result = attempt_result::will_retry;
                made.error = delivery_error::status;
                made.status = 503;
                break;
            case 1:
                made.result = attempt_result::dead;
                made.error = delivery_error::status;
                made.status = 404;
                break;
            case 2:
                made.result = attempt_result::dead;
                made.error = delivery_error::timeout;
                made.status = 0;
                break;
            default:
                break;
        }
        return made;
    }
    void keep_some(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) keep(some_attempt(i));
    }

    static delivery_filter of_workspace() {
        delivery_filter filter;
        filter.workspace_id.value = 1;
        return filter;
    }
    /// The ids on all pages, each page of this size; a row that comes twice is there twice.
    std::vector<std::string> listed(const delivery_filter& filter, std::size_t page_size,
                                    delivery_judge may_see = {}) const {
        std::vector<std::string> ids;
        delivery_question asked{filter, {}, page_size, true, std::move(may_see)};
        do {
            const delivery_page page = history->list(asked);
            for (const delivery_row& row : page.rows) ids.push_back(row.id);
            total = page.total;
            asked.after = page.next;
        } while (asked.after);
        return ids;
    }
    /// What the list should show: all rows, filtered and sorted here.
    std::vector<std::string> expected(const delivery_filter& filter, std::size_t count) const {
        std::vector<delivery_row> rows;
        for (std::size_t i = 0; i < count; ++i)
            if (auto row = history->find(attempt_of(i).delivery_id); row && matches(filter, *row))
                rows.push_back(*std::move(row));
        std::ranges::sort(rows, [](const delivery_row& left, const delivery_row& right) {
            return left.time_event_ms != right.time_event_ms ? left.time_event_ms > right.time_event_ms
                                                             : left.id < right.id;
        });
        std::vector<std::string> ids;
        for (const delivery_row& row : rows) ids.push_back(row.id);
        return ids;
    }
    std::uint64_t counted(const delivery_filter& filter, delivery_judge may_see = {}) const {
        histogram_question asked{filter, 24, std::move(may_see)};
        if (asked.filter.since_ms == 0) asked.filter.since_ms = noon_ms - minute_ms;
        if (asked.filter.until_ms == INT64_MAX) asked.filter.until_ms = noon_ms + 600 * minute_ms;
        std::uint64_t sum = 0;
        for (const histogram_step& step : history->histogram(asked).steps)
            for (const std::uint64_t each : step.of_state) sum += each;
        return sum;
    }

    temporary_folder folder;
    std::unique_ptr<delivery_history> history;
    std::uint64_t next_offset = 0;
    mutable std::uint64_t total = 0;
};

TEST_F(history_test, every_filter_shows_exactly_what_matches_page_by_page) {
    constexpr std::size_t count = 200;
    keep_some(count);
    std::vector<delivery_filter> filters(1, of_workspace());
    const auto with = [&](auto change) {
        filters.push_back(of_workspace());
        change(filters.back());
    };
    with([](delivery_filter& of) { of.webhook_id.value = 2; });
    with([](delivery_filter& of) { of.event_type = event_type::update; });
    with([](delivery_filter& of) { of.states = {delivery_state::dead, delivery_state::waiting}; });
    with([](delivery_filter& of) { of.error = delivery_error::timeout; });
    with([](delivery_filter& of) { of.status = schemas::status_range{400, 499}; });
    with([](delivery_filter& of) { of.status = schemas::status_range{0, 0}; });
    with([](delivery_filter& of) {
        of.resource_type = resource_type::registered_model_version;
        of.resource_id = "3";
    });
    with([](delivery_filter& of) { of.event_id = "1-17"; });
    with([](delivery_filter& of) { of.since_ms = noon_ms + 10 * minute_ms; });
    with([](delivery_filter& of) { of.until_ms = noon_ms + 10 * minute_ms; });
    with([](delivery_filter& of) { of.workspace_id.value = 2; });
    with([](delivery_filter& of) {  // of a webhook that another workspace has
        of.workspace_id.value = 2;
        of.webhook_id.value = 1;
    });
    for (std::size_t first = 1; first + 1 < 8; ++first) {  // and two of them together
        delivery_filter both = filters[first];
        both.states = {delivery_state::dead};
        both.webhook_id.value = 1;
        filters.push_back(both);
    }
    for (std::size_t i = 0; i < filters.size(); ++i) {
        SCOPED_TRACE("filter " + std::to_string(i));
        const auto right = expected(filters[i], count);
        for (const std::size_t page_size : {1u, 7u, 1'000u}) EXPECT_EQ(listed(filters[i], page_size), right);
        EXPECT_EQ(total, right.size());
        EXPECT_EQ(counted(filters[i]), right.size());
        // A caller who may see everything, but is judged row by row, sees the same.
        EXPECT_EQ(listed(filters[i], 7, [](const delivery_row&) { return true; }), right);
    }
}

TEST_F(history_test, what_a_caller_may_not_see_is_in_no_list_total_or_histogram) {
    keep_some(60);
    const delivery_judge only_3 = [](const delivery_row& row) { return row.resource_id == "3"; };
    delivery_filter third = of_workspace();
    third.resource_type = resource_type::registered_model_version;
    third.resource_id = "3";
    const auto right = expected(third, 60);
    ASSERT_FALSE(right.empty());
    EXPECT_EQ(listed(of_workspace(), 5, only_3), right);
    EXPECT_EQ(total, right.size());
    EXPECT_EQ(counted(of_workspace(), only_3), right.size());
}

TEST_F(history_test, a_delivery_moves_from_list_to_list_as_its_attempts_come) {
    schemas::attempt made = some_attempt(0);
    keep(made);
    delivery_filter waiting = of_workspace(), delivered = of_workspace();
    waiting.states = {delivery_state::waiting};
    delivered.states = {delivery_state::delivered};
    EXPECT_EQ(listed(waiting, 10).size(), 1u);
    EXPECT_EQ(counted(waiting), 1u);
    made = attempt_of(0);
    made.time_ms += 5'000;
    made.number = 2;
    keep(made);
    EXPECT_THAT(listed(waiting, 10), IsEmpty());
    EXPECT_EQ(counted(waiting), 0u);
    EXPECT_EQ(listed(delivered, 10).size(), 1u);
    EXPECT_EQ(counted(delivered), 1u);
    const auto row = history->find(made.delivery_id);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->attempts, 2u);
    EXPECT_EQ(row->time_done_ms, made.time_ms);
    made.time_ms -= 10'000;  // a report that comes late
    made.result = attempt_result::dead;
    keep(made);
    EXPECT_EQ(history->find(made.delivery_id)->state, delivery_state::delivered);
}

TEST_F(history_test, a_failure_beside_the_schedule_takes_no_success_back) {
    schemas::attempt made = some_attempt(0);
    made.next_attempt_ms = made.time_ms + 5'000;
    keep(made);
    schemas::attempt beside = made;
    beside.is_extra = true;
    beside.number = 2;
    beside.time_ms += 1'000;
    beside.next_attempt_ms = 0;
    keep(beside);
    EXPECT_EQ(history->find(made.delivery_id)->next_attempt_ms, made.next_attempt_ms)
        << "the schedule goes on";
    schemas::attempt arrived = attempt_of(0);
    arrived.number = 2;
    arrived.time_ms += 5'000;
    keep(arrived);
    beside.number = 3;
    beside.time_ms += 5'000;
    keep(beside);
    const auto row = history->find(made.delivery_id);
    EXPECT_EQ(row->state, delivery_state::delivered);
    EXPECT_EQ(row->attempts, 3u);
    EXPECT_EQ(row->time_done_ms, arrived.time_ms);
}

TEST_F(history_test, a_delivery_waits_in_the_list_before_its_first_attempt) {
    const events::log::topic_partition where{"events.promote", 3};
    EXPECT_EQ(history->next_expected(where), 1u);
    const schemas::attempt made = attempt_of(4);
    delivery_row row;
    row.id = made.delivery_id;
    row.webhook_id = made.webhook_id;
    row.event_id = made.event_id;
    row.workspace_id = made.workspace_id;
    row.time_event_ms = made.time_event_ms;
    history->expect(where, {row}, 8);
    EXPECT_EQ(history->next_expected(where), 8u);
    EXPECT_THAT(listed(of_workspace(), 10), ElementsAre(row.id));
    EXPECT_EQ(history->find(row.id)->state, delivery_state::waiting);
    keep(made);
    history->expect(where, {row}, 9);  // known by now
    EXPECT_EQ(history->find(row.id)->state, delivery_state::delivered);
    EXPECT_THAT(listed(of_workspace(), 10), ElementsAre(row.id));
    EXPECT_EQ(counted(of_workspace()), 1u);
}

TEST_F(history_test, a_test_is_in_no_list_but_can_be_looked_up) {
    schemas::attempt made = attempt_of(0);
    made.source = schemas::delivery_source::test;
    made.delivery_id = "4f1a6b5e-3c7e-4b52-9d0e-2f7a3c1d9e55";
    keep(made);
    EXPECT_THAT(listed(of_workspace(), 10), IsEmpty());
    EXPECT_EQ(counted(of_workspace()), 0u);
    EXPECT_EQ(history->attempts_of_delivery(made.delivery_id).size(), 1u);
}

TEST_F(history_test, an_attempt_is_kept_with_its_headers_and_body) {
    schemas::attempt made = attempt_of(1);
    made.request_headers = "webhook-id: x";
    made.response_body = std::string(16'384, 'b');
    keep(made);
    open();
    const auto found = history->attempts_of_delivery(made.delivery_id);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].has_bodies);
    EXPECT_EQ(found[0].made.request_headers, "webhook-id: x");
    EXPECT_EQ(found[0].made.response_body.size(), 16'384u);
    EXPECT_EQ(history->bodies_kept_from_ms(), made.time_ms);
}

TEST_F(history_test, bodies_go_first_when_there_are_too_many_and_rows_stay) {
    history.reset();
    auto opened = open_delivery_history(folder / "small", 2);  // about two files
    ASSERT_TRUE(opened) << opened.error().message;
    history = *std::move(opened);
    std::string noise(16'384, ' ');
    for (std::size_t i = 0; i < 4'000; ++i) {
        schemas::attempt made = attempt_of(i);
        for (std::size_t at = 0; at < noise.size(); ++at)  // so that it does not compress
            noise[at] = static_cast<char>('!' + (at * 31 + i * 17 + at * at % (i + 7)) % 90);
        made.response_body = noise;
        keep(made);
    }
    EXPECT_GT(history->bodies_kept_from_ms(), attempt_of(0).time_ms);
    const auto first = history->attempts_of_delivery(attempt_of(0).delivery_id);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_FALSE(first[0].has_bodies);
    EXPECT_TRUE(history->attempts_of_delivery(attempt_of(3'999).delivery_id).at(0).has_bodies);
}

TEST_F(history_test, a_delivery_of_a_replay_counts_once_by_its_newest_attempt) {
    const auto report = [&](std::size_t number, attempt_result result, std::int64_t later_ms) {
        schemas::attempt made = attempt_of(number);
        made.replay_id = 5;
        made.result = result;
        made.time_ms += later_ms;
        keep(made);
    };
    report(1, attempt_result::succeeded, 0);
    report(1, attempt_result::succeeded, 1);  // sent again after a crash
    report(2, attempt_result::will_retry, 0);
    report(3, attempt_result::dead, 0);
    EXPECT_EQ(history->outcomes_of_replay(5), (schemas::replay_outcomes{1, 2}));
    report(2, attempt_result::succeeded, 5);
    open();
    EXPECT_EQ(history->outcomes_of_replay(5), (schemas::replay_outcomes{2, 1}));
    EXPECT_EQ(history->outcomes_of_replay(6), (schemas::replay_outcomes{0, 0}));
}

TEST_F(history_test, what_was_given_up_is_grouped_by_webhook_and_reason) {
    keep_some(70);
    const dead_groups found = history->groups_of_dead({1}, {});
    std::uint64_t sum = 0;
    for (const dead_group& group : found.groups) {
        sum += group.count;
        EXPECT_LE(group.first_ms, group.last_ms);
        EXPECT_EQ(history->find(group.example)->state, delivery_state::dead);
    }
    EXPECT_EQ(found.groups.size(), 6u);  // three webhooks, two reasons
    EXPECT_EQ(sum, 20u);
}

TEST_F(history_test, a_webhooks_record_has_its_last_attempts_and_its_day) {
    for (std::size_t i = 0; i < 60; ++i) {
        schemas::attempt made = attempt_of(3 * i);  // all of webhook 1
        made.time_ms = noon_ms + static_cast<std::int64_t>(i);
        made.total_us = i == 59 ? 900'000 : 1'000;
        if (i % 10 == 0) made.result = attempt_result::will_retry;
        keep(made);
    }
    const webhook_record record = history->record_of({1}, {1}, noon_ms + minute_ms);
    EXPECT_EQ(record.recent.size(), limits::recent_attempts_kept);
    EXPECT_EQ(record.recent.front().time_ms, noon_ms + 59);
    EXPECT_EQ(record.succeeded, 54u);
    EXPECT_EQ(record.failed, 6u);
    EXPECT_NEAR(static_cast<double>(record.p95_us), 1'000, 60);
    EXPECT_EQ(record.waiting, 6u);
    EXPECT_EQ(record.oldest_waiting_ms, attempt_of(0).time_event_ms);
    EXPECT_EQ(history->record_of({1}, {2}, noon_ms).recent.size(), 0u);
}

TEST(history_keys, rows_expire_by_their_age_but_not_while_they_wait) {
    const std::int64_t kept_ms = 1'000'000'000, now_ms = 5'000'000'000;
    const auto index = [](delivery_state state, std::int64_t time_ms) {
        return history_key('O')
            .number(1)
            .end(bytes_of(delivery_facts{event_type::promote, state, delivery_error::none, 200}))
            .newest_first(time_ms)
            .end("id")
            .bytes();
    };
    const auto expired = [&](const std::string& key, const std::string& value = {}) {
        return has_expired(key, value, now_ms, kept_ms);
    };
    EXPECT_TRUE(expired(index(delivery_state::delivered, now_ms - kept_ms - 1)));
    EXPECT_FALSE(expired(index(delivery_state::delivered, now_ms - kept_ms)));
    EXPECT_FALSE(expired(index(delivery_state::waiting, 1)));
    const auto of_hook = [](delivery_state state, std::int64_t time_ms) {
        return of_webhook('P', {1}, {2})
            .end(bytes_of(delivery_facts{event_type::promote, state, delivery_error::none, 200}))
            .newest_first(time_ms)
            .end("id")
            .bytes();
    };
    EXPECT_TRUE(expired(of_hook(delivery_state::dead, now_ms - kept_ms - 1)));
    EXPECT_FALSE(expired(of_hook(delivery_state::dead, now_ms - kept_ms)));
    EXPECT_FALSE(expired(of_hook(delivery_state::waiting, 1)));
    const auto counter = [](history_key begun, std::int64_t time_ms) {
        return begun.byte(static_cast<std::uint8_t>(count_unit::hour))
            .short_number(unit_of(time_ms, count_unit::hour))
            .end("facts")
            .bytes();
    };
    for (const history_key& begun : {of_workspace('n', {1}), of_webhook('m', {1}, {2})}) {
        EXPECT_TRUE(expired(counter(begun, now_ms - kept_ms - 3'600'000)));
        EXPECT_FALSE(expired(counter(begun, now_ms - kept_ms)));
    }
    const std::string outcome = history_key('y').number(1).end("id").bytes();
    EXPECT_TRUE(expired(outcome, history_key().time(1).byte(1).bytes()));
    EXPECT_FALSE(expired(outcome, history_key().time(now_ms - kept_ms).byte(1).bytes()));
    const std::string row = history_key('d').end("id").bytes();
    const std::string old = history_key().time(1).byte(1).byte(0).bytes();
    const std::string waits = history_key().time(1).byte(0).byte(0).bytes();
    EXPECT_TRUE(expired(row, old));
    EXPECT_FALSE(expired(row, waits));
    EXPECT_FALSE(expired(history_key('o').number(1).bytes()));
    EXPECT_TRUE(expired(history_key('E').text("e").end("id").bytes(), history_key().time(1).bytes()));
    EXPECT_FALSE(expired(history_key('E').text("e").end("id").bytes(),
                         history_key().time(now_ms - kept_ms - 1).bytes()));
}

}  // namespace
}  // namespace herald::test
