// Protects everything that is printed or parsed: JSON strings are always valid, times and numbers exact.
#include "runtime/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace herald::test {
namespace {

using namespace runtime;

using namespace std::string_literals;

std::string json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

TEST(append_json_string, escapes_what_must_be_escaped) {
    EXPECT_EQ(json("plain"), "\"plain\"");
    EXPECT_EQ(json("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    EXPECT_EQ(json("\n\r\t"), "\"\\n\\r\\t\"");
    EXPECT_EQ(json("\0\x01\x1f\x7f"s), "\"\\u0000\\u0001\\u001f\x7f\"");
    EXPECT_EQ(json("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(shortened, cuts_between_characters) {
    EXPECT_EQ(shortened("plain", 5), "plain");
    EXPECT_EQ(shortened("plain", 4), "plai");
    EXPECT_EQ(shortened("plain", 0), "");
    EXPECT_EQ(shortened("", 3), "");
    const std::string_view text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    for (const auto& [most, kept] : {std::pair{1, 1}, {2, 1}, {3, 3}, {5, 3}, {6, 6}, {9, 6}, {10, 10}})
        EXPECT_EQ(shortened(text, static_cast<std::size_t>(most)),
                  text.substr(0, static_cast<std::size_t>(kept)))
            << most;
}

TEST(shortened, replaces_what_is_no_text) {
    EXPECT_EQ(shortened("a\0b"s, 10),
              "a\xEF\xBF\xBD"
              "b");
    EXPECT_EQ(shortened("\xff\xc3", 10), "\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_EQ(shortened("\xff\xc3", 5), "\xEF\xBF\xBD") << "no more bytes than asked for";
    EXPECT_EQ(shortened("tab\tline\n", 20), "tab\tline\n");
}

TEST(is_traceparent, takes_version_00_with_two_ids_and_nothing_else) {
    EXPECT_TRUE(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    for (const char* wrong : {"", "00-x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n",
                              "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                              "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                              "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                              "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"})
        EXPECT_FALSE(is_traceparent(wrong)) << wrong;
}

TEST(append_json_string, replaces_what_is_not_utf8) {
    EXPECT_EQ(json("a\xff"s + "b"), "\"a\xef\xbf\xbd"s + "b\"");
    EXPECT_EQ(json("\xc3"), "\"\xef\xbf\xbd\"");
}

TEST(percent_escape, is_two_hexadecimal_digits_and_nothing_less) {
    EXPECT_EQ(percent_escape("%41bc"), 'A');
    EXPECT_EQ(percent_escape("%fF"), '\xff');
    EXPECT_EQ(percent_escape("%00"), '\0');
    for (const char* none : {"", "%", "%4", "4%41", "%4g", "%g4", "% 4"})
        EXPECT_FALSE(percent_escape(none)) << none;
}

TEST(percent_encoded, keeps_what_is_unreserved_and_escapes_every_other_byte) {
    const std::string_view unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (int value = 0; value < 256; ++value) {
        const std::string byte(1, static_cast<char>(value));
        const std::string encoded = percent_encoded(byte);
        if (unreserved.find(byte) != std::string_view::npos)
            EXPECT_EQ(encoded, byte);
        else
            EXPECT_EQ(percent_escape(encoded), byte[0]) << encoded;
    }
    EXPECT_EQ(percent_encoded("a b/\xC3\xBC%"), "a%20b%2F%C3%BC%25");
    EXPECT_EQ(percent_encoded("a/b[0]", [](char c) { return c == '/' || c == 'a'; }), "a/%62%5B%30%5D");
}

TEST(is_valid_utf8, knows_the_edges_of_every_row_of_the_table) {
    for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                             "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_valid_utf8(good)) << json(good);
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
        EXPECT_FALSE(is_valid_utf8(bad)) << json(bad);
}

TEST(iso8601_ms, is_right_at_the_edges_of_the_calendar) {
    EXPECT_EQ(iso8601_ms(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(iso8601_ms(-1), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(iso8601_ms(951'782'399'999), "2000-02-28T23:59:59.999Z");
    EXPECT_EQ(iso8601_ms(951'782'400'000), "2000-02-29T00:00:00.000Z");
    EXPECT_EQ(iso8601_ms(951'868'800'000), "2000-03-01T00:00:00.000Z");
    EXPECT_EQ(iso8601_ms(1'769'851'800'123), "2026-01-31T09:30:00.123Z");
    EXPECT_EQ(iso8601_ms(4'107'542'400'000), "2100-03-01T00:00:00.000Z");
}

TEST(http_date, gives_the_example_of_rfc_9110) {
    EXPECT_EQ(http_date(784'887'151'000), "Tue, 15 Nov 1994 08:12:31 GMT");
    EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(is_valid_utf8, sees_every_byte_of_long_texts) {
    for (std::size_t at = 0; at < 40; ++at) {
        std::string text(40, 'a');
        EXPECT_TRUE(is_valid_utf8(text));
        text[at] = '\xE4';
        EXPECT_FALSE(is_valid_utf8(text)) << at;
        text.replace(at, 1, "\xC3\xA4");
        EXPECT_TRUE(is_valid_utf8(text)) << at;
    }
}

TEST(nearest, finds_what_was_probably_meant) {
    constexpr std::array<std::string_view, 4> names{"name", "description", "labels", "time_created"};
    EXPECT_EQ(nearest("descripton", names), "description");
    EXPECT_EQ(nearest("Label", names), "labels");
    EXPECT_EQ(nearest("timecreated", names), "time_created");
    EXPECT_EQ(nearest("nmae", names), "");
    EXPECT_EQ(nearest("nam", names), "name");
    EXPECT_EQ(nearest("colour", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest(std::string(10'000, 'n'), names), "");
}

TEST(parse_decimal, takes_whole_numbers_only) {
    EXPECT_EQ(parse_decimal("0"), 0u);
    EXPECT_EQ(parse_decimal("007"), 7u);
    EXPECT_EQ(parse_decimal("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "18446744073709551616", "a"})
        EXPECT_FALSE(parse_decimal(wrong)) << wrong;
}

TEST(parse_iso8601_ms, reads_what_is_written_and_what_others_write) {
    for (const std::int64_t time : {0ll, 951'782'399'999ll, 951'782'400'000ll, 951'868'800'000ll,
                                    1'769'851'800'123ll, 4'107'542'400'000ll, 253'402'300'799'999ll})
        EXPECT_EQ(parse_iso8601_ms(iso8601_ms(time)), time);
    for (std::int64_t day = 0; day < 80'000; ++day)
        EXPECT_EQ(parse_iso8601_ms(iso8601_ms(day * 86'400'000)), day * 86'400'000);
    EXPECT_EQ(parse_iso8601_ms("1970-01-01T00:00:01Z"), 1'000);
    EXPECT_EQ(parse_iso8601_ms("1970-01-01 00:00:01.5z"), 1'500);
    EXPECT_EQ(parse_iso8601_ms("1970-01-01T00:00:00.123456789Z"), 123);
    EXPECT_EQ(parse_iso8601_ms("1970-01-01T02:00:00+01:30"), 1'800'000);
    EXPECT_EQ(parse_iso8601_ms("1970-01-01T00:00:00-00:30"), 1'800'000);
    for (const char* wrong : {"",
                              "1970",
                              "1970-01-01",
                              "1970-01-01T00:00:00",
                              "1970-01-01T00:00Z",
                              "1969-12-31T23:59:59Z",
                              "1970-00-01T00:00:00Z",
                              "1970-13-01T00:00:00Z",
                              "2026-02-29T00:00:00Z",
                              "2026-04-31T00:00:00Z",
                              "1970-01-01T24:00:00Z",
                              "1970-01-01T00:60:00Z",
                              "1970-01-01T00:00:60Z",
                              "1970-01-01T00:00:00.Z",
                              "1970-01-01T00:00:00ZZ",
                              "1970-01-01T00:00:00+1:00",
                              "1970-01-01T00:00:00+24:00",
                              "1970-01-01T00:00:00+00:30",
                              "1970/01/01T00:00:00Z",
                              "1970-01-01T00:00:0xZ"})
        EXPECT_FALSE(parse_iso8601_ms(wrong)) << wrong;
}

TEST(equals_ignoring_case, folds_ascii_letters_and_nothing_else) {
    EXPECT_TRUE(equals_ignoring_case("Content-Length", "cONTENT-lENGTH"));
    EXPECT_FALSE(equals_ignoring_case("a", "ab"));
    EXPECT_FALSE(equals_ignoring_case("[", "{"));
    EXPECT_FALSE(equals_ignoring_case("@", "`"));
}

TEST(to_lower, changes_ascii_letters_and_nothing_else) {
    EXPECT_EQ(to_lower("AZaz09[]\xc3\x84"), "azaz09[]\xc3\x84");
}

}  // namespace
}  // namespace herald::test
