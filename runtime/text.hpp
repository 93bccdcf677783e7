// Small text helpers that several rooms need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace herald::runtime {

/// Appends `text` as a JSON string, including quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
bool is_valid_utf8(std::string_view text) noexcept;
/// The beginning of the text, at most `bytes_max` bytes of whole characters. Bytes that are not UTF-8, and
/// U+0000, become U+FFFD.
std::string shortened(std::string_view text, std::size_t bytes_max);
/// "2026-01-31T09:30:00.123Z" (UTC). Pure arithmetic: no locale, no time zone database.
std::string iso8601_ms(std::int64_t ms_since_epoch);
/// The time of an RFC 3339 text, with Z or an offset and any number of digits behind the second, of which
/// three count; empty for any other text, and for years before 1970 and after 9999.
std::optional<std::int64_t> parse_iso8601_ms(std::string_view text) noexcept;
/// "Tue, 15 Nov 1994 08:12:31 GMT" (RFC 9110 §5.6.7).
std::string http_date(std::int64_t ms_since_epoch);
/// 0 to 15; -1 when it is not a hexadecimal digit.
int hex_digit(char) noexcept;

/// The byte that `%XX` at the start of the text stands for (RFC 3986 §2.1); empty when the text starts
/// otherwise.
std::optional<char> percent_escape(std::string_view text) noexcept;

/// Letters, digits and -._~, which stand for themselves anywhere in a URL (RFC 3986 §2.3).
bool is_unreserved(char) noexcept;
/// Each byte that is not to be kept becomes %XX.
std::string percent_encoded(std::string_view text, bool (*is_kept)(char) = is_unreserved);

/// The whole text as a decimal number without sign; empty when it is not one or does not fit.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;
/// As parse_decimal, in the only form in which Herald writes it: without leading zeros. For ids, so that each
/// has one name.
std::optional<std::uint64_t> parse_plain_decimal(std::string_view text) noexcept;
bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept;  // ASCII only
std::string to_lower(std::string_view text);                                        // ASCII only
/// W3C Trace Context §3.2.2, version 00; neither id may be all zeros.
bool is_traceparent(std::string_view text) noexcept;
/// Without the characters of `white` around it.
std::string_view trimmed(std::string_view text, std::string_view white = " \t") noexcept;
/// Which of `names` was probably meant by `word`: the nearest by single-character changes, if less than half
/// of it differs; otherwise "".
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

}  // namespace herald::runtime
