#include "storage/registry/rules/checks.hpp"

#include <algorithm>
#include <vector>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/tables/feature_flags.hpp"

namespace herald::storage::registry::rules {
namespace {

/// Removes and returns the first code point of valid UTF-8.
char32_t take_code_point(std::string_view& text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t point = bytes == 1 ? first : first & (0x7F >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    text.remove_prefix(bytes);
    return point;
}

/// Also the separators of lines and paragraphs, which end a line as U+0085 does.
bool is_control(char32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
}
/// Embeddings, overrides and isolates: they make the text that follows appear in another order.
bool turns_text(char32_t point) {
    return (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}
/// Unicode's White_Space.
bool is_space(char32_t point) {
    return point == ' ' || point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
           point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool is_joiner(char32_t point) { return point == 0x200C || point == 0x200D; }  // ZWNJ and ZWJ
bool is_variation_selector(char32_t point) {
    return (point >= 0x180B && point <= 0x180D) || point == 0x180F || (point >= 0xFE00 && point <= 0xFE0F) ||
           (point >= 0xE0100 && point <= 0xE01EF);
}

/// Unicode's Default_Ignorable_Code_Point, which holds all of Bidi_Control.
bool is_invisible(char32_t point) {
    return point == 0xAD || point == 0x34F || point == 0x61C || (point >= 0x115F && point <= 0x1160) ||
           (point >= 0x17B4 && point <= 0x17B5) || (point >= 0x180B && point <= 0x180F) ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || point == 0x3164 || (point >= 0xFE00 && point <= 0xFE0F) ||
           point == 0xFEFF || point == 0xFFA0 || (point >= 0xFFF0 && point <= 0xFFF8) ||
           (point >= 0x1BCA0 && point <= 0x1BCA3) || (point >= 0x1D173 && point <= 0x1D17A) ||
           (point >= 0xE0000 && point <= 0xE0FFF);
}

/// Letters, marks and emoji: all that shows, of ASCII only letters.
bool is_letter_or_emoji(char32_t point) {
    if (point < 0x80) return (point | 0x20) >= 'a' && (point | 0x20) <= 'z';
    return !is_control(point) && !is_space(point) && !is_invisible(point);
}

bool takes_variation(char32_t point) {
    return is_letter_or_emoji(point) || (point >= '0' && point <= '9') || point == '#' || point == '*';
}

std::vector<char32_t> code_points_of(std::string_view text) {
    std::vector<char32_t> points;
    while (!text.empty()) points.push_back(take_code_point(text));
    return points;
}

/// Whether the invisible character does what it is for: a variation selector behind a letter or an emoji, a
/// joiner between two of them.
bool has_use(const std::vector<char32_t>& points, std::size_t at) {
    if (is_variation_selector(points[at])) return at > 0 && takes_variation(points[at - 1]);
    if (!is_joiner(points[at]) || at + 1 == points.size()) return false;
    std::size_t before = at;
    while (before > 0 && is_variation_selector(points[before - 1])) --before;
    return before > 0 && is_letter_or_emoji(points[before - 1]) && is_letter_or_emoji(points[at + 1]);
}

std::string code_text(char32_t point) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out = "U+";
    for (int shift = point > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4) out += hex[point >> shift & 15];
    return out;
}

std::string_view without_user(std::string_view authority) {
    return authority.substr(authority.rfind('@') + 1);
}

/// False for a port above 65535, as :99999. Without a port, or with nothing behind the colon, the scheme's
/// own counts.
bool has_usable_port(std::string_view authority) {
    authority = without_user(authority);
    const std::size_t colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
    if (colon == std::string_view::npos || colon + 1 == authority.size()) return true;
    const auto port = runtime::parse_decimal(authority.substr(colon + 1));
    return port && *port >= 1 && *port <= 65'535;
}

/// A name, which may be of other letters than ASCII's, or an address; an address of IPv6 in brackets.
bool has_host(std::string_view authority) {
    authority = without_user(authority);
    if (!authority.starts_with('[')) {
        const std::string_view host = authority.substr(0, authority.find(':'));
        return !host.empty() && host.find_first_of("\"<>[\\]^`{|}") == host.npos;
    }
    const std::size_t end = std::min(authority.find(']'), authority.size());
    const std::string_view inside = authority.substr(1, end - 1);
    const std::string_view behind = authority.substr(std::min(end + 1, authority.size()));
    return end < authority.size() && inside.find(':') != inside.npos &&
           inside.find_first_not_of("0123456789abcdefABCDEF:.") == inside.npos &&
           (behind.empty() || behind.starts_with(':'));
}

std::string at_most(std::size_t bytes) { return "at most " + std::to_string(bytes) + " bytes"; }

}  // namespace

std::string_view authority_of(std::string_view url) {
    const std::size_t begin = url.find("://");
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = url.substr(begin + 3);
    return rest.substr(0, rest.find_first_of("/?#"));
}

result<void> check_name(std::string_view field, std::string_view value, std::size_t bytes_max) {
    if (value.empty())
        return runtime::invalid_argument({field, " is empty; give 1 to ", bytes_max, " bytes"});
    if (const auto good = check_text(field, value, bytes_max); !good) return good;
    const std::vector<char32_t> points = code_points_of(value);
    for (const char32_t point : points)
        if (is_control(point) || turns_text(point))
            return runtime::invalid_argument({field, " holds the control character ", code_text(point),
                                              "; names, keys and paths must show all that they hold"});
    if (std::ranges::all_of(points, [](char32_t each) { return is_space(each) || is_invisible(each); }))
        return runtime::invalid_argument({field,
                                          " is only white space or characters without width; it must hold a "
                                          "character that shows"});
    for (std::size_t at = 0; at < points.size(); ++at)
        if (is_invisible(points[at]) && !has_use(points, at))
            return runtime::invalid_argument({field, " holds the invisible character ", code_text(points[at]),
                                              "; names, keys and paths must show all that they hold"});
    if (is_space(points.front()) || is_space(points.back()))
        return runtime::invalid_argument({field, " must not begin or end with white space: remove it"});
    return {};
}

result<void> check_optional_name(std::string_view field, std::string_view value, std::size_t bytes_max) {
    if (value.empty()) return {};
    return check_name(field, value, bytes_max);
}

result<void> check_email(std::string_view field, std::string_view email) {
    if (const auto good = check_name(field, email, limits::email_bytes_max); !good) return good;
    const std::size_t at = email.find('@');
    const bool shaped = at != std::string_view::npos && at > 0 && at + 1 < email.size() &&
                        email.find('@', at + 1) == std::string_view::npos &&
                        email.find(' ') == std::string_view::npos;
    if (!shaped)
        return runtime::invalid_argument({field, " is \"", email, "\"; it must look like name@example.org"});
    if (!std::ranges::all_of(email, [](char c) { return c > ' ' && c <= '~' && c != ':'; }))
        return runtime::invalid_argument(
            {field, " is \"", email,
             "\"; it must be visible ASCII without a colon, because users sign in "
             "with it in HTTP headers, which carry nothing else"});
    return {};
}

result<void> check_text(std::string_view field, std::string_view value, std::size_t bytes_max) {
    if (value.size() > bytes_max)
        return runtime::invalid_argument(
            {field, " is ", value.size(), " bytes long; it must be ", at_most(bytes_max)});
    if (!runtime::is_valid_utf8(value)) return runtime::invalid_argument({field, " is not UTF-8 text"});
    if (value.find('\0') != std::string_view::npos)
        return runtime::invalid_argument({field, " holds the control character U+0000"});
    return {};
}

result<void> check_url(std::string_view field, std::string_view value) {
    if (const auto text = check_name(field, value, limits::url_bytes_max); !text) return text;
    const std::string lower = runtime::to_lower(value.substr(0, 8));
    const std::size_t scheme = lower == "https://" ? 8 : lower.starts_with("http://") ? 7 : 0;
    const bool has_host = scheme > 0 && value.size() > scheme && value[scheme] != '/' &&
                          value[scheme] != '?' && value[scheme] != '#';
    if (!has_host || value.find(' ') != std::string_view::npos)
        return runtime::invalid_argument(
            {field, " is \"", value, "\"; it must be an absolute http or https URL"});
    if (!has_usable_port(authority_of(value)))
        return runtime::invalid_argument({field, " is \"", value, "\"; its port must be 1 to 65535"});
    return {};
}

result<void> check_host(std::string_view field, std::string_view url) {
    if (has_host(authority_of(url))) return {};
    return runtime::invalid_argument(
        {field, " is \"", url, "\"; it must be an absolute http or https URL with a host"});
}

result<void> check_object(std::string_view field, const schemas::json_text& value) {
    if (value.text.empty() || value.text.starts_with('{')) return {};
    return runtime::invalid_argument({field, " must be an object"});
}

result<void> check_labels(const std::vector<std::string>& labels) {
    if (labels.size() > limits::labels_max)
        return runtime::invalid_argument(
            {"there are ", labels.size(), " labels; at most ", limits::labels_max, " are allowed"});
    for (const std::string& label : labels)
        if (const auto good = check_name("a label", label, limits::label_bytes_max); !good) return good;
    return {};
}

result<void> check_attributes(const std::vector<schemas::key_value>& attributes) {
    if (attributes.size() > limits::attributes_max)
        return runtime::invalid_argument({"there are ", attributes.size(), " attributes; at most ",
                                          limits::attributes_max, " are allowed"});
    for (const schemas::key_value& attribute : attributes)
        if (const auto good = check_name("an attribute's key", attribute.key, limits::name_bytes_max); !good)
            return good;
    return {};
}

result<void> check_entity_size(std::string_view what, std::string_view encoded) {
    if (encoded.size() <= limits::entity_bytes_max) return {};
    return runtime::invalid_argument(
        {what, " would be ", encoded.size(), " bytes; it must be ", at_most(limits::entity_bytes_max)});
}

result<void> check_json_size(std::string_view what, std::size_t bytes) {
    if (bytes <= limits::entity_json_bytes_max) return {};
    return runtime::invalid_argument({what, " would be ", bytes,
                                      " bytes as JSON, where a control character takes 6; it must be ",
                                      at_most(limits::entity_json_bytes_max)});
}

std::vector<std::string> sorted_labels(std::vector<std::string> labels) {
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
}

std::vector<schemas::key_value> merged_attributes(std::vector<schemas::key_value> old,
                                                  const std::vector<schemas::key_value>& changes) {
    merge_by_key(old, changes);
    return old;
}

bool is_flag_on(const state::state_view& state, flag_name which) {
    const auto flag = tables::feature_flags::find(state, std::string(schemas::name_of(which)));
    return !flag || flag->enabled;
}

}  // namespace herald::storage::registry::rules
