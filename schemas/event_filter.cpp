#include "schemas/event_filter.hpp"

#include <algorithm>
#include <array>

#include "schemas/event_kinds.hpp"
#include "schemas/limits.hpp"
#include "schemas/whole_or_fraction.hpp"

namespace herald::schemas {
namespace {

/// What a path leads to. `is_attribute`: the value of an entry of a list of {key, value}.
struct found_member {
    const json_value* value = nullptr;
    bool is_attribute = false;
};

const json_value* value_of_key(const json_array& entries, std::string_view key) {
    for (const json_value& entry : entries) {
        const json_value* its_key = entry.find("key");
        const std::string* text = its_key ? its_key->get_if<std::string>() : nullptr;
        if (text && *text == key) return entry.find("value");
    }
    return nullptr;
}

/// Keys of attributes may have dots: the rest of the path as a whole comes first.
found_member member_at(const json_value& body, std::string_view path) {
    found_member at{&body};
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        const std::string_view next = path.substr(0, end);
        if (const json_array* entries = at.value->get_if<json_array>()) {
            at.is_attribute = true;
            if (const json_value* whole = value_of_key(*entries, path)) return {whole, true};
            at.value = value_of_key(*entries, next);
        } else {
            at.is_attribute = false;
            at.value = at.value->find(next);
        }
        if (at.value == nullptr) return {};
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at;
}

std::optional<whole_or_fraction> number_in(const found_member& left, const json_value& right) {
    const std::string* text = left.value->get_if<std::string>();
    if (left.is_attribute && text && whole_or_fraction::of(right)) return whole_or_fraction::of_text(*text);
    return whole_or_fraction::of(*left.value);
}

/// Empty: they have no order.
std::optional<std::partial_ordering> order_of(const found_member& left, const json_value& right) {
    const auto number = number_in(left, right);
    const auto other = whole_or_fraction::of(right);
    if (number && other) return *number <=> *other;
    const std::string* text = left.value->get_if<std::string>();
    const std::string* other_text = right.get_if<std::string>();
    if (text && other_text) return std::partial_ordering(text->compare(*other_text) <=> 0);
    return std::nullopt;
}

bool are_equal(const found_member& left, const json_value& right) {
    const auto order = order_of(left, right);
    return order ? *order == 0 : *left.value == right;
}

bool contains(const json_value& whole, const json_value& part) {
    const std::string* text = whole.get_if<std::string>();
    const std::string* inside = part.get_if<std::string>();
    if (text && inside) return text->find(*inside) != text->npos;
    const json_array* all = whole.get_if<json_array>();
    return all && std::ranges::any_of(*all, [&](const json_value& one) { return are_equal({&one}, part); });
}

bool is_in(const found_member& left, const json_value& list) {
    const json_array* all = list.get_if<json_array>();
    return all && std::ranges::any_of(*all, [&](const json_value& one) { return are_equal(left, one); });
}

bool holds(const filter_condition& condition, const json_value& body) {
    using enum find_operator;
    const auto wanted = parse_json(condition.value.text);
    if (!wanted) return false;
    const found_member left = member_at(body, condition.path);
    if (left.value == nullptr) return condition.operator_ == ne || condition.operator_ == not_contain;
    const auto order = order_of(left, *wanted);
    switch (condition.operator_) {
        case eq:
            return are_equal(left, *wanted);
        case ne:
            return !are_equal(left, *wanted);
        case gt:
            return order && *order > 0;
        case gte:
            return order && *order >= 0;
        case lt:
            return order && *order < 0;
        case lte:
            return order && *order <= 0;
        case contain:
            return contains(*left.value, *wanted);
        case not_contain:
            return !contains(*left.value, *wanted);
        case in:
            return is_in(left, *wanted);
        case not_in:
            return !is_in(left, *wanted);
    }
    return false;
}

/// The members that bodies of the kind begin with.
std::vector<std::string_view> first_members_of(event_type type) {
    std::vector<std::string_view> names{"id", "timestamp", "event_type", "resource_type", "workspaceID"};
    const auto add = [&names](std::initializer_list<std::string_view> more) {
        names.insert(names.end(), more);
    };
    switch (type) {
        case event_type::create:
        case event_type::request_scan:
            add({"updated"});
            break;
        case event_type::read:
        case event_type::delete_:
            add({"original"});
            break;
        case event_type::update:
            add({"original", "updated"});
            break;
        case event_type::promote:
            return {"id",    "registered_model_id", "version", "time_created", "time_updated",  "readme_text",
                    "owner", "attributes",          "stage",   "lock_level",   "version_number"};
        case event_type::transition:
            add({"action", "transition", "model", "version", "by", "requested_by"});
            break;
        case event_type::webhook_health:
            add({"webhook", "condition", "since", "reason"});
            break;
    }
    return names;
}

/// Of all events that the webhook hears.
std::vector<std::string_view> first_members_of(const webhook_settings& settings) {
    std::vector<std::string_view> all;
    for (const event_kind& kind : event_kinds) {
        const bool is_named = std::ranges::count(settings.event_types, kind.type) > 0;
        if (!is_named && (!settings.all_events || kind.hearers == event_hearers::named)) continue;
        for (const std::string_view name : first_members_of(kind.type))
            if (std::ranges::count(all, name) == 0) all.push_back(name);
    }
    return all;
}

result<void> check_path(std::string_view path, std::span<const std::string_view> first_members) {
    if (path.empty() || path.size() > limits::filter_path_bytes_max)
        return runtime::invalid_argument(
            {"is ", path.size(), " bytes long; it must be 1 to ", limits::filter_path_bytes_max});
    const auto members = static_cast<std::size_t>(std::ranges::count(path, '.')) + 1;
    if (members > limits::filter_path_members_max || path.starts_with('.') || path.ends_with('.') ||
        path.find("..") != path.npos)
        return runtime::invalid_argument(
            {"must be 1 to ", limits::filter_path_members_max, " names of members with a dot between two"});
    const std::string_view first = path.substr(0, path.find('.'));
    if (std::ranges::count(first_members, first) > 0) return {};
    std::string names;
    for (const std::string_view name : first_members)
        names += (names.empty() ? "" : ", ") + std::string(name);
    return runtime::invalid_argument(
        {"begins with \"", first,
         "\", which no event that this webhook hears has; it must begin with one of ", names});
}

result<void> check_value(const filter_condition& condition) {
    using enum find_operator;
    if (condition.value.text.size() > limits::filter_value_bytes_max)
        return runtime::invalid_argument({"is ", condition.value.text.size(),
                                          " bytes long; it must be at most ",
                                          limits::filter_value_bytes_max});
    const auto value = parse_json(condition.value.text);
    if (!value) return runtime::invalid_argument({"is not JSON: ", value.error().message});
    const bool takes_list = condition.operator_ == in || condition.operator_ == not_in;
    const bool is_list = value->get_if<json_array>() != nullptr;
    const bool is_ordered = value->get_if<std::string>() || whole_or_fraction::of(*value);
    const bool needs_order = condition.operator_ == gt || condition.operator_ == gte ||
                             condition.operator_ == lt || condition.operator_ == lte;
    if (takes_list && !is_list)
        return runtime::invalid_argument({"is ", value->kind_text(), "; IN and NOT_IN take an array"});
    if (needs_order && !is_ordered)
        return runtime::invalid_argument(
            {"is ", value->kind_text(), "; ", name_of(condition.operator_), " takes a number or a string"});
    return {};
}

}  // namespace

bool passes(std::span<const filter_condition> conditions, const json_value& body) {
    return std::ranges::all_of(conditions,
                               [&](const filter_condition& condition) { return holds(condition, body); });
}

result<void> check_filter(const webhook_settings& settings) {
    const std::vector<filter_condition>& conditions = settings.delivery.filter;
    if (conditions.size() > limits::filter_conditions_max)
        return runtime::invalid_argument({"filter holds ", conditions.size(),
                                          " conditions; it must hold at most ",
                                          limits::filter_conditions_max});
    const std::vector<std::string_view> first_members = first_members_of(settings);
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const std::string where = "filter[" + std::to_string(i) + "].";
        if (const auto good = check_path(conditions[i].path, first_members); !good)
            return runtime::invalid_argument({where, "path ", good.error().message});
        if (const auto good = check_value(conditions[i]); !good)
            return runtime::invalid_argument({where, "value ", good.error().message});
    }
    return {};
}

}  // namespace herald::schemas
