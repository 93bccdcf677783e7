#include "runtime/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace herald::runtime {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of the well-formed UTF-8 sequence at the start of `text` (Unicode 15, table 3-7); 0 when there is
// none.
std::size_t utf8_sequence(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const auto within = [&](std::size_t i, unsigned low, unsigned high) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/// ASCII that stands for itself in a JSON string.
bool is_plain(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// Appends the first character of `text`, which is not plain; returns its length in bytes.
std::size_t append_special(std::string& out, std::string_view text) {
    const char c = text.front();
    const std::size_t length = utf8_sequence(text);
    if (length > 1) {
        out += text.substr(0, length);
        return length;
    }
    if (length == 0) {
        out += replacement;
        return 1;
    }
    switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
            out += escape.data();
    }
    return 1;
}

struct civil_time {
    std::int64_t year;
    int month, day, hour, minute, second, millisecond, weekday;  // weekday 0 is Sunday
};

// Howard Hinnant's days-from-civil algorithm, inverted.
civil_time civil(std::int64_t ms) {
    std::int64_t days = ms / 86'400'000;
    std::int64_t rest = ms % 86'400'000;
    if (rest < 0) {
        rest += 86'400'000;
        --days;
    }
    const std::int64_t shifted = days + 719'468;
    const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
    const std::int64_t day_of_era = shifted - era * 146'097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t month_shifted = (5 * day_of_year + 2) / 153;
    civil_time out{};
    out.day = static_cast<int>(day_of_year - (153 * month_shifted + 2) / 5 + 1);
    out.month = static_cast<int>(month_shifted < 10 ? month_shifted + 3 : month_shifted - 9);
    out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
    out.hour = static_cast<int>(rest / 3'600'000);
    out.minute = static_cast<int>(rest / 60'000 % 60);
    out.second = static_cast<int>(rest / 1000 % 60);
    out.millisecond = static_cast<int>(rest % 1000);
    out.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
    return out;
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        // Most text is plain and is appended in one piece.
        const auto special = std::find_if(text.begin(), text.end(), [](char c) { return !is_plain(c); });
        const auto plain = static_cast<std::size_t>(special - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (!text.empty()) text.remove_prefix(append_special(out, text));
    }
    out += '"';
}

bool is_valid_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        std::uint64_t eight = 0;  // most text is ASCII
        while (text.size() >= sizeof eight) {
            std::memcpy(&eight, text.data(), sizeof eight);
            if ((eight & 0x8080808080808080) != 0) break;
            text.remove_prefix(sizeof eight);
        }
        if (text.empty()) break;
        const std::size_t length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        const bool is_kept = length > 0 && text.front() != '\0';
        const std::string_view next = is_kept ? text.substr(0, length) : replacement;
        if (out.size() + next.size() > bytes_max) break;
        out += next;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string iso8601_ms(std::int64_t ms_since_epoch) {
    const civil_time t = civil(ms_since_epoch);
    std::array<char, 48> out{};
    std::snprintf(out.data(), out.size(), "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ",
                  static_cast<long long>(t.year), t.month, t.day, t.hour, t.minute, t.second, t.millisecond);
    return out.data();
}

std::optional<std::int64_t> parse_iso8601_ms(std::string_view text) noexcept {
    const auto number = [&](std::size_t at, std::size_t digits) -> std::int64_t {
        std::int64_t value = 0;
        for (std::size_t i = at; i < at + digits; ++i) {
            if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
            value = value * 10 + (text[i] - '0');
        }
        return value;
    };
    const auto is = [&](std::size_t at, std::string_view any) {
        return at < text.size() && any.find(text[at]) != any.npos;
    };
    const std::int64_t year = number(0, 4), month = number(5, 2), day = number(8, 2), hour = number(11, 2),
                       minute = number(14, 2), second = number(17, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 59 || !is(4, "-") || !is(7, "-") || !is(10, "Tt ") ||
        !is(13, ":") || !is(16, ":"))
        return std::nullopt;
    static constexpr std::array days_of_month{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > days_of_month[static_cast<std::size_t>(month - 1)] + (is_leap && month == 2 ? 1 : 0))
        return std::nullopt;
    std::int64_t days = 365 * (year - 1970) + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(month); ++i) days += days_of_month[i];
    if (is_leap && month > 2) ++days;
    std::int64_t ms = ((days + day - 1) * 86'400 + hour * 3'600 + minute * 60 + second) * 1'000;
    std::size_t at = 19;
    if (is(at, ".")) {
        std::int64_t weight = 100;
        const std::size_t first = ++at;
        for (; is(at, "0123456789"); ++at, weight /= 10) ms += (text[at] - '0') * weight;
        if (at == first) return std::nullopt;
    }
    if (is(at, "Zz")) return at + 1 == text.size() ? std::optional(ms) : std::nullopt;
    const std::int64_t off_hours = number(at + 1, 2), off_minutes = number(at + 4, 2);
    if (!is(at, "+-") || !is(at + 3, ":") || at + 6 != text.size() || off_hours < 0 || off_hours > 23 ||
        off_minutes < 0 || off_minutes > 59)
        return std::nullopt;
    const std::int64_t offset = (off_hours * 60 + off_minutes) * 60'000;
    ms += text[at] == '-' ? offset : -offset;
    return ms >= 0 ? std::optional(ms) : std::nullopt;
}

std::string http_date(std::int64_t ms_since_epoch) {
    static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const civil_time t = civil(ms_since_epoch);
    std::array<char, 48> out{};
    std::snprintf(out.data(), out.size(), "%s, %02d %s %04lld %02d:%02d:%02d GMT",
                  days[static_cast<std::size_t>(t.weekday)], t.day,
                  months[static_cast<std::size_t>(t.month - 1)], static_cast<long long>(t.year), t.hour,
                  t.minute, t.second);
    return out.data();
}

int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<char> percent_escape(std::string_view text) noexcept {
    if (text.size() < 3 || text[0] != '%') return std::nullopt;
    const int high = hex_digit(text[1]);
    const int low = hex_digit(text[2]);
    if (high < 0 || low < 0) return std::nullopt;
    return static_cast<char>(high * 16 + low);
}

bool is_unreserved(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

std::string percent_encoded(std::string_view text, bool (*is_kept)(char)) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_kept(c))
            out += c;
        else
            out += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
    return out;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (text.empty() || failure != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> parse_plain_decimal(std::string_view text) noexcept {
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    return parse_decimal(text);
}

bool is_traceparent(std::string_view text) noexcept {
    if (text.size() != 55 || !text.starts_with("00-") || text[35] != '-' || text[52] != '-') return false;
    const auto digits = std::count_if(
        text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    const auto is_some = [&](std::size_t at, std::size_t size) {
        return text.substr(at, size).find_first_not_of('0') != text.npos;
    };
    return digits == 52 && is_some(3, 32) && is_some(36, 16);  // all digits but the three dashes
}

bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::string to_lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower(c);
    return out;
}

std::string_view trimmed(std::string_view text, std::string_view white) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
    return text.substr(0, text.find_last_not_of(white) + 1);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
    static constexpr std::size_t word_bytes_max = 64;
    if (word.empty() || word.size() > word_bytes_max) return {};
    std::string_view best;
    std::size_t least = (std::max<std::size_t>(word.size(), 4) + 1) / 2;  // the distance must be below this
    std::vector<std::size_t> row;  // Levenshtein distance, one row at a time
    for (const std::string_view name : names) {
        row.resize(name.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t diagonal = std::exchange(row[0], i + 1);
            for (std::size_t j = 0; j < name.size(); ++j) {
                const std::size_t changed = diagonal + (lower(word[i]) == lower(name[j]) ? 0 : 1);
                diagonal = row[j + 1];
                row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
            }
        }
        if (row.back() < least) {
            least = row.back();
            best = name;
        }
    }
    return best;
}

}  // namespace herald::runtime
