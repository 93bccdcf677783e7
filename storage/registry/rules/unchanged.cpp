#include "storage/registry/rules/unchanged.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "schemas/json_codec.hpp"
#include "schemas/sharing.hpp"

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

/// The number of a member whose type is known: a 64-bit integer of a notebook's path, or `is_dirty` of git,
/// an enum (wire.md §1 "Ternary").
std::optional<std::int64_t> number_of_known(std::string_view name, const json_value& value) {
    const auto* text = value.get_if<std::string>();
    if (std::find(integers_as_text.begin(), integers_as_text.end(), name) != integers_as_text.end() && text) {
        std::int64_t number = 0;
        const auto end = text->data() + text->size();
        const auto read = std::from_chars(text->data(), end, number);
        if (read.ec == std::errc() && read.ptr == end) return number;
    }
    if (name != "is_dirty") return std::nullopt;
    if (const auto* flag = value.get_if<bool>(); flag && *flag) return 1;
    if (!text) return std::nullopt;
    const auto named = schemas::from_name<schemas::ternary>(*text);
    if (!named) return std::nullopt;
    return static_cast<std::int64_t>(*named);
}

/// `{}` is not a default: a message without members is still present.
bool is_default(const schemas::json_member& member) {
    const auto& [name, value] = member;
    if (const auto number = number_of_known(name, value)) return *number == 0;
    if (const auto* text = value.get_if<std::string>())
        return text->empty() || (*text == "0" && std::find(integers_as_text.begin(), integers_as_text.end(),
                                                           name) != integers_as_text.end());
    if (const auto* flag = value.get_if<bool>()) return !*flag;
    if (const auto* items = value.get_if<json_array>()) return items->empty();
    return value.is_null() || number_in(value) == 0.0;
}

bool is_same(const json_value& a, const json_value& b, absent_is_default absent);

bool is_same_member(std::string_view name, const json_value& a, const json_value& b,
                    absent_is_default absent) {
    if (absent == absent_is_default::yes) {
        const auto left = number_of_known(name, a), right = number_of_known(name, b);
        if (left || right)
            return is_same(left ? json_value(*left) : a, right ? json_value(*right) : b, absent);
    }
    return is_same(a, b, absent);
}

/// An object's values by name; of two with one name the first. An object may have many members: they are not
/// to be searched for one by one.
using member_index = std::map<std::string_view, const json_value*>;

member_index index_of(const json_object& members) {
    member_index index;
    for (const auto& [name, value] : members) index.emplace(name, &value);
    return index;
}

/// Whether `others` has each of the members, except those that it may omit.
bool has_members_of(const json_object& members, const member_index& others, absent_is_default absent) {
    return std::all_of(members.begin(), members.end(), [&](const schemas::json_member& member) {
        const auto found = others.find(member.first);
        const json_value* const other = found == others.end() ? nullptr : found->second;
        if (!other) return absent == absent_is_default::yes && is_default(member);
        return is_same_member(member.first, member.second, *other, absent);
    });
}

bool is_same(const json_value& a, const json_value& b, absent_is_default absent) {
    const auto *members = a.get_if<json_object>(), *other_members = b.get_if<json_object>();
    if (members && other_members) {
        const member_index index = index_of(*members);
        const auto is_in_a = [&](const schemas::json_member& member) {
            return index.contains(member.first) || (absent == absent_is_default::yes && is_default(member));
        };
        return has_members_of(*members, index_of(*other_members), absent) &&
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

void keep(std::vector<schemas::key_value>& after, const std::vector<schemas::key_value>& before) {
    std::multimap<std::string_view, const schemas::key_value*> old;
    for (const schemas::key_value& one : before) old.emplace(one.key, &one);
    for (schemas::key_value& attribute : after) {
        const auto [first, end] = old.equal_range(attribute.key);
        for (auto each = first; each != end; ++each)
            if (attribute.value_type == each->second->value_type &&
                means_the_same(attribute.value, each->second->value, absent_is_default::no)) {
                attribute = *each->second;
                break;
            }
    }
}

/// With another path it is another file.
void keep_uploads(std::vector<schemas::artifact>& after, const std::vector<schemas::artifact>& before) {
    std::map<std::string_view, const schemas::artifact*> old;
    for (const schemas::artifact& one : before) old.emplace(one.key, &one);
    for (schemas::artifact& file : after) {
        const auto found = old.find(file.key);
        file.upload_completed =
            found != old.end() && found->second->path == file.path && found->second->upload_completed;
    }
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
    keep(after.attributes, before.attributes);
    keep_uploads(after, before);
}

void keep_uploads(schemas::model_version& after, const schemas::model_version& before) {
    keep_uploads(after.artifacts, before.artifacts);
    keep_uploads(after.datasets, before.datasets);
    if (after.model)
        after.model->upload_completed =
            before.model && before.model->path == after.model->path && before.model->upload_completed;
}

void keep_what_is_unchanged(schemas::registered_model& after, const schemas::registered_model& before) {
    keep(after.attributes, before.attributes);
    // No permission means the same as each of its members at its default, no visibility the same as PRIVATE.
    const auto keep_meant = [](auto& mine, const auto& old) {
        using said = std::remove_cvref_t<decltype(*mine)>;
        if (mine.value_or(said{}) == old.value_or(said{})) mine = old;
    };
    keep_meant(after.custom_permission, before.custom_permission);
    keep_meant(after.visibility, before.visibility);
}

}  // namespace herald::storage::registry::rules
