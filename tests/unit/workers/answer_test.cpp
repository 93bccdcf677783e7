// Protects the table of delivery.md §3: a receiver that answered is understood, and a delivery without an
// answer is tried again.
#include "workers/answer.hpp"
#include "workers/limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace herald::test {
namespace {

using namespace workers;

using schemas::delivery_error;

constexpr std::int64_t now_ms = 1'700'000'000'000;  // 14 November 2023, 22:13:20 UTC

answer_meaning of_status(int status, std::vector<runtime::http::header> headers = {}) {
    delivery_answer answer;
    answer.status = static_cast<std::uint16_t>(status);
    answer.headers = std::move(headers);
    if (status / 100 != 2) {
        answer.error = delivery_error::status;
        answer.message = "answered " + std::to_string(status);
    }
    return meaning_of(answer, now_ms);
}

TEST(answer, success_is_done) {
    for (const int status : {200, 201, 202, 204, 299}) {
        const auto meaning = of_status(status);
        EXPECT_EQ(meaning.delivery, verdict_on_delivery::done);
        EXPECT_FALSE(meaning.counts_as_failure || meaning.slow_down || meaning.disable_webhook);
    }
}

TEST(answer, everything_else_is_a_failure_that_is_retried) {
    for (const int status : {301, 302, 307, 308, 304, 400, 401, 404, 408, 413, 425, 500, 501, 505, 600}) {
        const auto meaning =
            of_status(status, {{"location", "http://169.254.169.254/"}, {"retry-after", "60"}});
        EXPECT_EQ(meaning.delivery, verdict_on_delivery::retry) << status;
        EXPECT_TRUE(meaning.counts_as_failure) << status;
        EXPECT_FALSE(meaning.park_until_ms) << status;
        EXPECT_FALSE(meaning.slow_down) << status;
        EXPECT_EQ(meaning.reason, "answered " + std::to_string(status));
    }
}

TEST(answer, gone_disables_the_webhook_and_ends_the_delivery) {
    const auto meaning = of_status(410);
    EXPECT_EQ(meaning.delivery, verdict_on_delivery::dead);
    EXPECT_TRUE(meaning.disable_webhook);
    EXPECT_EQ(meaning.reason, "answered 410");
}

TEST(answer, retry_after_parks_the_webhook_and_is_no_failure) {
    for (const int status : {429, 503}) {
        const auto meaning = of_status(status, {{"Retry-After", " 120 "}});
        EXPECT_EQ(meaning.delivery, verdict_on_delivery::retry);
        EXPECT_EQ(meaning.park_until_ms, now_ms + 120'000);
        EXPECT_FALSE(meaning.counts_as_failure);
        EXPECT_FALSE(meaning.slow_down);
    }
    for (const int status : {502, 504}) {
        const auto meaning = of_status(status, {{"retry-after", "120"}});
        EXPECT_FALSE(meaning.park_until_ms) << status;
        EXPECT_TRUE(meaning.counts_as_failure) << status;
    }
}

TEST(answer, a_retry_after_that_asks_for_nothing_is_a_plain_failure) {
    for (const char* const nothing :
         {"0", "00", "Tue, 14 Nov 2023 22:13:19 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
        for (const int status : {429, 503}) {
            const auto meaning = of_status(status, {{"retry-after", nothing}});
            EXPECT_FALSE(meaning.park_until_ms) << nothing;
            EXPECT_TRUE(meaning.counts_as_failure) << nothing;
            EXPECT_EQ(meaning.slow_down, status == 429) << nothing;
        }
    }
    EXPECT_TRUE(of_status(503, {{"retry-after", "1"}}).park_until_ms);
}

TEST(answer, an_overloaded_receiver_slows_its_lane_down) {
    for (const int status : {429, 502, 504}) EXPECT_TRUE(of_status(status).slow_down) << status;
    EXPECT_FALSE(of_status(503).slow_down);
    EXPECT_TRUE(of_status(429, {{"retry-after", "soon"}}).slow_down) << "a date that cannot be read is none";
    EXPECT_TRUE(of_status(429, {{"retry-after", "soon"}}).counts_as_failure);
}

TEST(answer, the_receiver_can_ask_to_be_left_alone) {
    const auto disabled = of_status(500, {{"Webhook-Delivery", "Disable"}});
    EXPECT_TRUE(disabled.disable_webhook);
    EXPECT_EQ(disabled.delivery, verdict_on_delivery::dead);
    const auto thanked = of_status(200, {{"webhook-delivery", "disable"}});
    EXPECT_TRUE(thanked.disable_webhook);
    EXPECT_EQ(thanked.delivery, verdict_on_delivery::done);

    const auto aborted = of_status(422, {{"webhook-delivery", "something, abort-message"}});
    EXPECT_FALSE(aborted.disable_webhook);
    EXPECT_EQ(aborted.delivery, verdict_on_delivery::dead);
    EXPECT_EQ(aborted.reason, "answered 422, and the receiver asked for no more attempts");
    EXPECT_EQ(of_status(200, {{"webhook-delivery", "abort-message"}}).delivery, verdict_on_delivery::done);
    EXPECT_EQ(of_status(500, {{"webhook-delivery", "disabled"}}).delivery, verdict_on_delivery::retry);
    EXPECT_EQ(of_status(500, {{"webhook-delivery", ","}}).delivery, verdict_on_delivery::retry);
}

TEST(answer, no_answer_is_retried_whatever_the_reason) {
    for (const auto error :
         {delivery_error::dns, delivery_error::connect, delivery_error::tls, delivery_error::write,
          delivery_error::timeout, delivery_error::protocol, delivery_error::address_not_allowed}) {
        delivery_answer answer;
        answer.error = error;
        answer.message = "why";
        const auto meaning = meaning_of(answer, now_ms);
        EXPECT_EQ(meaning.delivery, verdict_on_delivery::retry);
        EXPECT_TRUE(meaning.counts_as_failure);
        EXPECT_EQ(meaning.reason, "why");
    }
}

TEST(answer, a_refused_address_is_retried_only_if_it_can_change) {
    delivery_answer answer;
    answer.error = delivery_error::address_not_allowed;
    answer.refused_for_good = true;
    EXPECT_EQ(meaning_of(answer, now_ms).delivery, verdict_on_delivery::dead);
}

TEST(retry_after, takes_seconds_and_all_three_http_dates) {
    constexpr std::int64_t minute_ms = 60'000;
    EXPECT_EQ(retry_after_ms("0", now_ms), now_ms);
    EXPECT_EQ(retry_after_ms("60", now_ms), now_ms + minute_ms);
    EXPECT_EQ(retry_after_ms("Tue, 14 Nov 2023 22:14:20 GMT", now_ms), now_ms + minute_ms);
    EXPECT_EQ(retry_after_ms("Tuesday, 14-Nov-23 22:14:20 GMT", now_ms), now_ms + minute_ms);
    EXPECT_EQ(retry_after_ms("Tue Nov 14 22:14:20 2023", now_ms), now_ms + minute_ms);
    // 1 December, with the space that asctime puts there.
    constexpr std::int64_t end_of_november_ms = 1'701'388'740'000;
    EXPECT_EQ(retry_after_ms("Fri Dec  1 00:00:00 2023", end_of_november_ms), end_of_november_ms + minute_ms);
}

TEST(retry_after, is_never_in_the_past_and_at_most_a_day_ahead) {
    EXPECT_EQ(retry_after_ms("Sun, 06 Nov 1994 08:49:37 GMT", now_ms), now_ms);
    EXPECT_EQ(retry_after_ms("Sunday, 06-Nov-94 08:49:37 GMT", now_ms), now_ms) << "94 is 1994";
    EXPECT_EQ(retry_after_ms("86400", now_ms), now_ms + limits::parked_ms_max);
    EXPECT_EQ(retry_after_ms("86401", now_ms), now_ms + limits::parked_ms_max);
    EXPECT_EQ(retry_after_ms("99999999999999999999999999", now_ms), now_ms + limits::parked_ms_max);
    EXPECT_EQ(retry_after_ms("Fri, 31 Dec 9999 23:59:59 GMT", now_ms), now_ms + limits::parked_ms_max);
}

TEST(retry_after, anything_else_is_nothing) {
    for (const char* wrong :
         {"", " ", "-1", "1.5", "60s", "soon", "Tue, 14 Nov 2023 22:14:20 GMT+1", "Tue, 14 Nov 2023 22:14:20",
          "Tue, 31 Nov 2023 22:14:20 GMT", "Tue, 14 Xxx 2023 22:14:20 GMT", "Tue, 14 Nov 2023 24:14:20 GMT",
          "Tue, 14 Nov 2023 22:60:20 GMT", "2023-11-14T22:14:20Z"}) {
        EXPECT_FALSE(retry_after_ms(wrong, now_ms)) << wrong;
    }
}

}  // namespace
}  // namespace herald::test
