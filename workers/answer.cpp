// The table of delivery.md §3, and the date formats of Retry-After.
#include "workers/answer.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "runtime/text.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

using runtime::equals_ignoring_case;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view value_of(const delivery_answer& answer, std::string_view name) {
    for (const auto& header : answer.headers) {
        if (equals_ignoring_case(header.name, name)) return trimmed(header.value);
    }
    return {};
}

/// True if a `webhook-delivery` header names the wish; several wishes may be separated by commas.
bool receiver_wishes(const delivery_answer& answer, std::string_view wish) {
    for (const auto& header : answer.headers) {
        if (!equals_ignoring_case(header.name, "webhook-delivery")) continue;
        std::string_view rest = header.value;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (equals_ignoring_case(trimmed(rest.substr(0, comma)), wish)) return true;
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

struct calendar_time {
    int year = 0;
    std::array<char, 4> month{};
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

std::optional<unsigned> month_number(std::string_view name) {
    constexpr std::array<std::string_view, 12> names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<unsigned>(found - names.begin()) + 1;
}

std::optional<std::int64_t> to_ms(const calendar_time& time) {
    const auto month = month_number(time.month.data());
    if (!month) return std::nullopt;
    const std::chrono::year_month_day day(std::chrono::year(time.year), std::chrono::month(*month),
                                          std::chrono::day(time.day));
    const bool in_range = time.hour >= 0 && time.hour <= 23 && time.minute >= 0 && time.minute <= 59 &&
                          time.second >= 0 && time.second <= 60;  // 60: a leap second
    if (!day.ok() || !in_range) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
    return (days * 86'400 + time.hour * 3'600 + time.minute * 60 + time.second) * 1'000;
}

/// A two-digit year that would be more than 50 years ahead is in the past (RFC 9110 §5.6.7).
int full_year(int two_digits, std::int64_t now_ms) {
    const std::chrono::sys_days today(std::chrono::days(now_ms / 86'400'000));
    const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
    const int year = this_year - this_year % 100 + two_digits;
    return year > this_year + 50 ? year - 100 : year;
}

std::optional<std::int64_t> parse_http_date(std::string_view value, std::int64_t now_ms) {
    const std::string text(value);
    const int length = static_cast<int>(text.size());
    calendar_time time;
    auto& [year, month, day, hour, minute, second] = time;
    int end = 0;  // set only when the whole format matched
    // Sun, 06 Nov 1994 08:49:37 GMT
    std::sscanf(text.c_str(), "%*3[A-Za-z], %2u %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &day, month.data(), &year,
                &hour, &minute, &second, &end);
    if (end == length) return to_ms(time);
    // Sunday, 06-Nov-94 08:49:37 GMT
    end = 0;
    std::sscanf(text.c_str(), "%*9[A-Za-z], %2u-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &day, month.data(), &year,
                &hour, &minute, &second, &end);
    if (end == length) {
        year = full_year(year, now_ms);
        return to_ms(time);
    }
    // Sun Nov  6 08:49:37 1994
    end = 0;
    std::sscanf(text.c_str(), "%*3[A-Za-z] %3[A-Za-z] %2u %2d:%2d:%2d %4d%n", month.data(), &day, &hour,
                &minute, &second, &year, &end);
    if (end == length) return to_ms(time);
    return std::nullopt;
}

void read_status(const delivery_answer& answer, std::int64_t now_ms, answer_meaning& meaning) {
    const std::uint16_t status = *answer.status;
    if (status == 410) {
        meaning.delivery = verdict_on_delivery::dead;
        meaning.disable_webhook = true;
        return;
    }
    if (status == 429 || status == 503) {
        meaning.park_until_ms = retry_after_ms(value_of(answer, "retry-after"), now_ms);
        // One that asks for nothing must not keep the receiver out of the breaker for ever.
        if (meaning.park_until_ms == now_ms) meaning.park_until_ms.reset();
        if (meaning.park_until_ms) meaning.counts_as_failure = false;
    }
    meaning.slow_down = !meaning.park_until_ms && (status == 429 || status == 502 || status == 504);
}

}  // namespace

std::optional<std::int64_t> retry_after_ms(std::string_view value, std::int64_t now_ms) {
    const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits) {  // a number too large for 64 bits still means a long time
        const auto seconds_max = static_cast<std::uint64_t>(limits::parked_ms_max / 1'000);
        const auto seconds = std::min(runtime::parse_decimal(value).value_or(seconds_max), seconds_max);
        return now_ms + static_cast<std::int64_t>(seconds) * 1'000;
    }
    const auto date_ms = parse_http_date(value, now_ms);
    if (!date_ms) return std::nullopt;
    return std::clamp(*date_ms, now_ms, now_ms + limits::parked_ms_max);
}

answer_meaning meaning_of(const delivery_answer& answer, std::int64_t now_ms) {
    answer_meaning meaning;
    meaning.disable_webhook = receiver_wishes(answer, "disable");
    if (answer.error == schemas::delivery_error::none) return meaning;

    meaning.delivery = verdict_on_delivery::retry;
    meaning.reason = answer.message;
    meaning.counts_as_failure = true;
    if (answer.error == schemas::delivery_error::status && answer.status)
        read_status(answer, now_ms, meaning);
    if (answer.refused_for_good) meaning.delivery = verdict_on_delivery::dead;
    if (meaning.disable_webhook || receiver_wishes(answer, "abort-message")) {
        meaning.delivery = verdict_on_delivery::dead;
        if (answer.status != 410) meaning.reason += ", and the receiver asked for no more attempts";
    }
    return meaning;
}

}  // namespace herald::workers
