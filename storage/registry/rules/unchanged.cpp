#include "storage/registry/rules/unchanged.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "schemas/json.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::json_array;
using schemas::json_object;
using schemas::json_value;
using schemas::long_integer;

bool is_integer(const json_value& value) {
    return value.get_if<std::int64_t>() || value.get_if<std::uint64_t>() || value.get_if<long_integer>();
}

std::optional<double> number_in(const json_value& value) {
    if (const auto* fraction = value.get_if<double>()) return *fraction;
    if (const auto* whole = value.get_if<std::int64_t>()) return static_cast<double>(*whole);
    if (const auto* whole = value.get_if<std::uint64_t>()) return static_cast<double>(*whole);
    const auto* longer = value.get_if<long_integer>();
    if (!longer) return std::nullopt;
    double number = 0;
    std::from_chars(longer->digits.data(), longer->digits.data() + longer->digits.size(), number);
    return number;
}

/// The 64-bit integers in a notebook's path, which protobuf's JSON writes as strings.
constexpr std::array<std::string_view, 2> integers_as_text{"size", "last_modified_at_source"};

/// `{}` is not a default: a message without members is still present.
bool is_default(const schemas::json_member& member) {
    const auto& [name, value] = member;
    if (const auto* text = value.get_if<std::string>())
        return text->empty() || (*text == "0" && std::find(integers_as_text.begin(), integers_as_text.end(),
                                                           name) != integers_as_text.end());
    if (const auto* flag = value.get_if<bool>()) return !*flag;
    if (const auto* items = value.get_if<json_array>()) return items->empty();
    return value.is_null() || number_in(value) == 0.0;
}

bool is_same(const json_value& a, const json_value& b, absent_is_default absent);

/// Whether `b` has each of the members, except those that it may omit.
bool has_members_of(const json_object& members, const json_value& b, absent_is_default absent) {
    return std::all_of(members.begin(), members.end(), [&](const schemas::json_member& member) {
        const json_value* other = b.find(member.first);
        if (!other) return absent == absent_is_default::yes && is_default(member);
        return is_same(member.second, *other, absent);
    });
}

bool is_same(const json_value& a, const json_value& b, absent_is_default absent) {
    const auto *members = a.get_if<json_object>(), *other_members = b.get_if<json_object>();
    if (members && other_members) {
        const auto is_in_a = [&](const schemas::json_member& member) {
            return a.find(member.first) || (absent == absent_is_default::yes && is_default(member));
        };
        return has_members_of(*members, b, absent) &&
               std::all_of(other_members->begin(), other_members->end(), is_in_a);
    }
    const auto *items = a.get_if<json_array>(), *other_items = b.get_if<json_array>();
    if (items && other_items)
        return std::equal(
            items->begin(), items->end(), other_items->begin(), other_items->end(),
            [&](const json_value& left, const json_value& right) { return is_same(left, right, absent); });
    const auto number = number_in(a), other_number = number_in(b);
    if (number && other_number && !(is_integer(a) && is_integer(b))) return *number == *other_number;
    return a == b;
}

void keep(schemas::json_text& after, const schemas::json_text& before) {
    if (means_the_same(after, before, absent_is_default::yes)) after = before;
}

}  // namespace

bool means_the_same(const schemas::json_text& a, const schemas::json_text& b, absent_is_default absent) {
    if (a == b) return true;
    const auto left = schemas::parse_json(a.text);
    const auto right = schemas::parse_json(b.text);
    return left && right && is_same(*left, *right, absent);
}

void keep_what_is_unchanged(schemas::model_version& after, const schemas::model_version& before) {
    keep(after.environment, before.environment);
    keep(after.docker_metadata, before.docker_metadata);
    keep(after.code_blob_map, before.code_blob_map);
    for (schemas::key_value& attribute : after.attributes)
        for (const schemas::key_value& old : before.attributes)
            if (attribute.key == old.key && attribute.value_type == old.value_type &&
                means_the_same(attribute.value, old.value, absent_is_default::no))
                attribute = old;
}

}  // namespace herald::storage::registry::rules
