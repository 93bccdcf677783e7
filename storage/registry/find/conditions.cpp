#include "storage/registry/find/conditions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::storage::registry::find {

/// Of an attribute's value, which compares only with values of the same kind. `any`: another member of a row,
/// whose values all have one kind.
enum class json_kind : std::uint8_t { any, null, boolean, number, text, array, object };

/// The values that a condition looks at: texts of the row (several for labels, any of which may match), a
/// text computed from it, or one number.
struct property {
    std::span<const std::string> texts;
    std::optional<std::string> made;
    std::optional<whole_or_fraction> number;
    json_kind kind = json_kind::any;

    std::span<const std::string> all_texts() const {
        return made ? std::span<const std::string>(&*made, 1) : texts;
    }
};

namespace {

using schemas::find_operator;
using schemas::json_value;
using schemas::model_version;
using schemas::registered_model;

property text_property(const std::string& text) { return {{&text, 1}, {}, {}}; }
property made_property(std::string text) { return {{}, std::move(text), {}}; }
property number_property(std::uint64_t number) { return {{}, {}, whole_or_fraction(number)}; }
property number_property(std::int64_t number) { return {{}, {}, whole_or_fraction(number)}; }

json_kind kind_of(const json_value& value) {
    if (value.is_null()) return json_kind::null;
    if (value.get_if<bool>()) return json_kind::boolean;
    if (value.get_if<std::string>()) return json_kind::text;
    if (value.get_if<schemas::json_array>()) return json_kind::array;
    return value.get_if<schemas::json_object>() ? json_kind::object : json_kind::number;
}

/// Of a number, or of a text that is one: ids come as texts, too.
std::optional<whole_or_fraction> number_in(const json_value& value) {
    const std::string* text = value.get_if<std::string>();
    return text ? whole_or_fraction::of_text(*text) : whole_or_fraction::of(value);
}

/// An attribute's value: text, number, or the text of its JSON form. Empty when there is no such attribute.
property attribute_property(const std::vector<schemas::key_value>& attributes, std::string_view key) {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const schemas::key_value& each) { return each.key == key; });
    if (found == attributes.end()) return {};
    const auto value = schemas::parse_json(found->value.text);
    if (!value) return {};
    const json_kind kind = kind_of(*value);
    if (const auto* text = value->get_if<std::string>()) return {{}, *text, {}, kind};
    if (kind == json_kind::number) return {{}, {}, whole_or_fraction::of(*value), kind};
    return {{&found->value.text, 1}, {}, {}, kind};
}

constexpr std::string_view attribute_prefix = "attributes.";

/// The kind of values that a key has.
enum class value_kind : std::uint8_t { number, text, stage, lock_level, any };
struct searchable {
    std::string_view key;
    value_kind kind;
};

constexpr std::array model_keys{
    searchable{"id", value_kind::number},           searchable{"name", value_kind::text},
    searchable{"labels", value_kind::text},         searchable{"description", value_kind::text},
    searchable{"owner", value_kind::text},          searchable{"time_created", value_kind::number},
    searchable{"time_updated", value_kind::number}, searchable{"attributes.<key>", value_kind::any}};
constexpr std::array version_keys{searchable{"id", value_kind::number},
                                  searchable{"version", value_kind::text},
                                  searchable{"registered_model_id", value_kind::number},
                                  searchable{"experiment_run_id", value_kind::text},
                                  searchable{"labels", value_kind::text},
                                  searchable{"description", value_kind::text},
                                  searchable{"owner", value_kind::text},
                                  searchable{"stage", value_kind::stage},
                                  searchable{"lock_level", value_kind::lock_level},
                                  searchable{"time_created", value_kind::number},
                                  searchable{"time_updated", value_kind::number},
                                  searchable{"attributes.<key>", value_kind::any}};

/// Errors: invalid_argument, naming the existing keys.
result<value_kind> kind_of(std::string_view key, std::span<const searchable> keys) {
    if (key.starts_with(attribute_prefix) && key.size() > attribute_prefix.size()) return value_kind::any;
    std::string known;
    for (const searchable& each : keys) {
        if (each.key == key && each.kind != value_kind::any) return each.kind;
        known += (known.empty() ? "" : ", ") + std::string(each.key);
    }
    return runtime::invalid_argument({"predicates: key is \"", key, "\"; it must be one of ", known});
}

/// For a key that kind_of knows.
property property_of(const registered_model& row, std::string_view key) {
    if (key == "id") return number_property(row.id.value);
    if (key == "name") return text_property(row.name);
    if (key == "labels") return property{row.labels, {}, {}};
    if (key == "description") return text_property(row.description);
    if (key == "owner") return made_property(std::to_string(row.owner.value));
    if (key == "time_created") return number_property(row.time_created);
    if (key == "time_updated") return number_property(row.time_updated);
    return attribute_property(row.attributes, key.substr(attribute_prefix.size()));
}

property property_of(const model_version& row, std::string_view key) {
    if (key == "id") return number_property(row.id.value);
    if (key == "version") return text_property(row.version);
    if (key == "registered_model_id") return number_property(row.registered_model_id.value);
    if (key == "experiment_run_id") return text_property(row.experiment_run_id);
    if (key == "labels") return property{row.labels, {}, {}};
    if (key == "description") return text_property(row.description);
    if (key == "owner") return made_property(std::to_string(row.owner.value));
    if (key == "stage") return number_property(static_cast<std::uint64_t>(row.stage));
    if (key == "lock_level") return number_property(static_cast<std::uint64_t>(row.lock_level));
    if (key == "time_created") return number_property(row.time_created);
    if (key == "time_updated") return number_property(row.time_updated);
    return attribute_property(row.attributes, key.substr(attribute_prefix.size()));
}

/// Clients send whole numbers as fractions, too: 5.0 is the text "5".
std::string text_in(const json_value& value) {
    if (const auto* text = value.get_if<std::string>()) return *text;
    const auto* number = value.get_if<double>();
    if (number && std::trunc(*number) == *number && std::abs(*number) <= limits::whole_numbers_max)
        return std::to_string(static_cast<std::int64_t>(*number));
    return schemas::to_json_text(value);
}

template <class T>
bool ordered(find_operator op, const T& left, const T& right) {
    switch (op) {
        case find_operator::eq:
            return left == right;
        case find_operator::gt:
            return left > right;
        case find_operator::gte:
            return left >= right;
        case find_operator::lt:
            return left < right;
        case find_operator::lte:
            return left <= right;
        default:
            return false;
    }
}

/// An enum name in any case, or its number.
template <class E>
std::optional<E> named_value(const json_value& value) {
    for (const schemas::named<E>& each : schemas::enum_names<E>) {
        const std::string* text = value.get_if<std::string>();
        if (text && runtime::equals_ignoring_case(*text, each.name)) return each.value;
        if (const auto number = number_in(value);
            number && number->value() == static_cast<double>(each.value))
            return each.value;
    }
    return std::nullopt;
}

template <class E>
std::string names_of() {
    std::string names = "one of";
    for (const schemas::named<E>& each : schemas::enum_names<E>) names += " " + std::string(each.name);
    return names;
}

error wrong_value(std::string_view key, const json_value& value, std::string_view expected) {
    return runtime::invalid_argument(
        {"predicates: the value for ", key, " is ", schemas::to_json_text(value), "; it must be ", expected});
}

}  // namespace

struct condition_maker {
    using operand = condition::operand;

    template <class E>
    static result<operand> operand_named(std::string_view key, const json_value& value) {
        const auto found = named_value<E>(value);
        if (!found) return wrong_value(key, value, names_of<E>());
        return operand{{}, whole_or_fraction(static_cast<std::uint64_t>(*found)), json_kind::any};
    }

    /// Errors: invalid_argument for a value that the key cannot have.
    static result<operand> operand_of(std::string_view key, value_kind kind, const json_value& value) {
        if (kind == value_kind::stage) return operand_named<schemas::stage>(key, value);
        if (kind == value_kind::lock_level) return operand_named<schemas::lock_level>(key, value);
        operand made{text_in(value), number_in(value), json_kind::any};
        if (kind == value_kind::any) made.kind = kind_of(value);
        if (kind == value_kind::number && !made.number) return wrong_value(key, value, "a number");
        if (kind == value_kind::text && !made.number && !value.get_if<std::string>())
            return wrong_value(key, value, "a text");
        return made;
    }

    /// Errors: invalid_argument for an operator that the key does not take, or for its value.
    static result<condition> condition_of(const schemas::predicate& asked, value_kind kind) {
        const auto value = schemas::parse_json(asked.value.text.empty() ? "null" : asked.value.text);
        if (!value) return value.error();
        const find_operator op = asked.operator_;
        if ((op == find_operator::contain || op == find_operator::not_contain) && kind != value_kind::text &&
            kind != value_kind::any)
            return runtime::invalid_argument(
                {"predicates: ", asked.key, " holds no text; ", name_of(op), " needs one"});
        const bool needs_list = op == find_operator::in || op == find_operator::not_in;
        const auto* list = value->get_if<schemas::json_array>();
        if (needs_list != (list != nullptr))
            return runtime::invalid_argument(
                {"predicates: the value for ", asked.key, " is ", value->kind_text(),
                 (needs_list ? "; IN and NOT_IN need an array" : "; only IN and NOT_IN take an array")});
        condition made;
        made.x_key = asked.key;
        made.x_operator = op;
        for (const json_value& each : list ? *list : schemas::json_array{*value}) {
            auto wanted = operand_of(asked.key, kind, each);
            if (!wanted) return wanted.error();
            made.x_wanted.push_back(*std::move(wanted));
        }
        std::sort(made.x_wanted.begin(), made.x_wanted.end(),
                  [](const operand& a, const operand& b) { return a.text < b.text; });
        return made;
    }

    static result<std::vector<condition>> conditions_of(const schemas::find_request& request,
                                                        std::span<const searchable> keys) {
        std::vector<condition> conditions;
        std::size_t values = 0;
        for (const schemas::predicate& predicate : request.predicates) {
            const auto kind = kind_of(predicate.key, keys);
            if (!kind) return kind.error();
            auto made = condition_of(predicate, *kind);
            if (!made) return made.error();
            values += made->x_wanted.size();
            if (values > limits::find_values_max)
                return runtime::invalid_argument({"the predicates hold more than ", limits::find_values_max,
                                                  " values to compare with; ask for fewer at once"});
            conditions.push_back(*std::move(made));
        }
        return conditions;
    }
};

bool condition::holds(const registered_model& row) const { return holds_for(property_of(row, x_key)); }
bool condition::holds(const model_version& row) const { return holds_for(property_of(row, x_key)); }

bool condition::holds(const glimpse& seen) const {
    if (x_key == "id") return holds_for(number_property(seen.id));
    if (x_key == "registered_model_id") return holds_for(number_property(seen.model));
    if (x_key == "time_updated") return holds_for(number_property(*seen.time_updated));
    const std::string name(*seen.name);
    return holds_for(text_property(name));
}

std::vector<std::string> condition::texts() const {
    std::vector<std::string> out;
    for (const operand& one : x_wanted) out.push_back(one.text);  // sorted already
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::vector<std::uint64_t> condition::numbers() const {
    std::vector<std::uint64_t> out;
    for (const operand& one : x_wanted)
        if (one.number && one.number->value() >= 0 && one.number->value() <= limits::whole_numbers_max &&
            std::trunc(one.number->value()) == one.number->value())
            out.push_back(static_cast<std::uint64_t>(one.number->value()));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::optional<number_range> condition::range() const {
    const auto wanted = x_wanted.empty() ? std::nullopt : x_wanted.front().number;
    const auto number = wanted ? std::optional(wanted->value()) : std::nullopt;
    if (!number || std::isnan(*number)) return std::nullopt;
    number_range out;
    const double bounded = std::clamp(*number, -1.0, limits::whole_numbers_max);
    const double below = std::floor(bounded), above = std::ceil(bounded);
    const auto from = [&](double first) { out.first = static_cast<std::uint64_t>(std::max(first, 0.0)); };
    const auto up_to = [&](double last) {
        if (last < 0)
            out = {1, 0};
        else if (bounded < limits::whole_numbers_max)
            out.last = static_cast<std::uint64_t>(last);
    };
    switch (x_operator) {
        case find_operator::eq:
            if (below != above || *number < 0 || *number > limits::whole_numbers_max)
                return number_range{1, 0};
            from(below), up_to(below);
            return out;
        case find_operator::gt:
            from(below + 1);
            return out;
        case find_operator::gte:
            from(above);
            return out;
        case find_operator::lt:
            up_to(above - 1);
            return out;
        case find_operator::lte:
            up_to(below);
            return out;
        default:
            return std::nullopt;
    }
}

bool condition::holds_for(const property& found) const {
    switch (x_operator) {
        case find_operator::ne:
            return !compare(found, find_operator::eq);
        case find_operator::not_contain:
            return !compare(found, find_operator::contain);
        case find_operator::in:
            return is_in(found);
        case find_operator::not_in:
            return !is_in(found);
        default:
            return compare(found, x_operator);
    }
}

bool condition::compare(const property& found, find_operator by) const {
    const operand& other = x_wanted.front();
    if (by == find_operator::contain) return contains(found, other.text);
    if (found.kind != other.kind) return false;
    if (found.number) return other.number && ordered(by, *found.number, *other.number);
    const auto texts = found.all_texts();
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return ordered(by, text, other.text); });
}

/// Texts hold a part of themselves; a list or an object, a part of its JSON form.
bool condition::contains(const property& found, const std::string& part) const {
    if (found.number || found.kind == json_kind::boolean || found.kind == json_kind::null) return false;
    const auto texts = found.all_texts();
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

bool condition::is_in(const property& found) const {
    if (found.number)
        return std::any_of(x_wanted.begin(), x_wanted.end(), [&](const operand& each) {
            return each.kind == found.kind && each.number == found.number;
        });
    const auto texts = found.all_texts();
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        const auto [from, to] =
            std::equal_range(x_wanted.begin(), x_wanted.end(), operand{text, {}, found.kind},
                             [](const operand& a, const operand& b) { return a.text < b.text; });
        return std::any_of(from, to, [&](const operand& each) { return each.kind == found.kind; });
    });
}

result<std::vector<condition>> conditions_on_models(const schemas::find_request& request) {
    return condition_maker::conditions_of(request, model_keys);
}
result<std::vector<condition>> conditions_on_versions(const schemas::find_request& request) {
    return condition_maker::conditions_of(request, version_keys);
}

}  // namespace herald::storage::registry::find
