#include "storage/find.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "storage/access.hpp"

namespace herald::storage {
namespace {

using schemas::find_operator;
using schemas::json_value;
using schemas::model_version;
using schemas::registered_model;

/// What a predicate looks at: texts (any of several, as with labels) or one number.
struct property {
    std::vector<std::string> texts;
    std::optional<double> number;
    bool ignore_case = false;
};

property text_property(std::string text) { return {{std::move(text)}, {}, false}; }
property number_property(std::uint64_t number) { return {{}, static_cast<double>(number), false}; }
property time_property(std::int64_t number) { return {{}, static_cast<double>(number), false}; }

/// An attribute's value: text, number, or the text of its JSON form. Nothing when there is no such attribute.
property attribute_property(const std::vector<schemas::key_value>& attributes, std::string_view key) {
    property found;
    for (const schemas::key_value& attribute : attributes) {
        if (attribute.key != key) continue;
        const auto value = schemas::parse_json(attribute.value.text);
        if (!value) continue;
        if (const auto* text = value->get_if<std::string>())
            found.texts.push_back(*text);
        else if (const auto* whole = value->get_if<std::int64_t>())
            found.number = static_cast<double>(*whole);
        else if (const auto* fraction = value->get_if<double>())
            found.number = *fraction;
        else
            found.texts.push_back(attribute.value.text);
    }
    return found;
}

constexpr std::string_view attribute_prefix = "attributes.";

std::optional<property> property_of(const registered_model& row, std::string_view key) {
    if (key == "id") return number_property(row.id.value);
    if (key == "name") return text_property(row.name);
    if (key == "description") return text_property(row.description);
    if (key == "owner") return text_property(std::to_string(row.owner.value));
    if (key == "labels") return property{row.labels, {}, false};
    if (key == "time_created") return time_property(row.time_created);
    if (key == "time_updated") return time_property(row.time_updated);
    if (key.starts_with(attribute_prefix))
        return attribute_property(row.attributes, key.substr(attribute_prefix.size()));
    return std::nullopt;
}

std::optional<property> property_of(const model_version& row, std::string_view key) {
    if (key == "id") return number_property(row.id.value);
    if (key == "registered_model_id") return number_property(row.registered_model_id.value);
    if (key == "experiment_run_id") return text_property(row.experiment_run_id);
    if (key == "version" || key == "name") return text_property(row.version);
    if (key == "description") return text_property(row.description);
    if (key == "owner") return text_property(std::to_string(row.owner.value));
    if (key == "labels") return property{row.labels, {}, false};
    if (key == "stage") return property{{std::string(name_of(row.stage))}, {}, true};
    if (key == "time_created") return time_property(row.time_created);
    if (key == "time_updated") return time_property(row.time_updated);
    if (key.starts_with(attribute_prefix))
        return attribute_property(row.attributes, key.substr(attribute_prefix.size()));
    return std::nullopt;
}

std::optional<double> number_in(const json_value& value) {
    if (const auto* fraction = value.get_if<double>()) return *fraction;
    if (const auto* whole = value.get_if<std::int64_t>()) return static_cast<double>(*whole);
    if (const auto* whole = value.get_if<std::uint64_t>()) return static_cast<double>(*whole);
    const auto* text = value.get_if<std::string>();
    double parsed = 0;
    if (!text || text->empty()) return std::nullopt;
    const char* end = text->data() + text->size();
    const auto [stop, failure] = std::from_chars(text->data(), end, parsed);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    return parsed;
}

std::string text_in(const json_value& value) {
    if (const auto* text = value.get_if<std::string>()) return *text;
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

bool any_text(const property& found, find_operator op, std::string wanted) {
    if (found.ignore_case) wanted = runtime::to_lower(wanted);
    return std::any_of(found.texts.begin(), found.texts.end(), [&](const std::string& text) {
        const std::string compared = found.ignore_case ? runtime::to_lower(text) : text;
        if (op == find_operator::contain) return compared.find(wanted) != std::string::npos;
        return ordered(op, compared, wanted);
    });
}

/// A condition made of a predicate once, tried on every row.
struct condition {
    std::string key;
    find_operator op;
    json_value value;

    bool compare(const property& found, find_operator by, const json_value& wanted) const {
        if (!found.number) return any_text(found, by, text_in(wanted));
        const auto number = number_in(wanted);
        return number && ordered(by, *found.number, *number);
    }
    bool is_in(const property& found) const {
        const auto* items = value.get_if<schemas::json_array>();
        return items && std::any_of(items->begin(), items->end(), [&](const json_value& item) {
                   return compare(found, find_operator::eq, item);
               });
    }
    bool holds(const property& found) const {
        switch (op) {
            case find_operator::ne:
                return !compare(found, find_operator::eq, value);
            case find_operator::not_contain:
                return !compare(found, find_operator::contain, value);
            case find_operator::in:
                return is_in(found);
            case find_operator::not_in:
                return !is_in(found);
            default:
                return compare(found, op, value);
        }
    }
};

template <class Row>
result<std::vector<condition>> conditions_of(const schemas::find_request& request) {
    std::vector<condition> conditions;
    for (const schemas::predicate& predicate : request.predicates) {
        if (!property_of(Row{}, predicate.key))
            return runtime::invalid_argument(
                "predicates: key is \"" + predicate.key +
                "\"; it must be id, name, version, description, owner, labels, stage, "
                "time_created, time_updated or attributes.<key>");
        auto value = schemas::parse_json(predicate.value.text.empty() ? "null" : predicate.value.text);
        if (!value) return value.error();
        const bool needs_list =
            predicate.operator_ == find_operator::in || predicate.operator_ == find_operator::not_in;
        if (needs_list != (value->get_if<schemas::json_array>() != nullptr))
            return runtime::invalid_argument(
                "predicates: the value for " + predicate.key + " is " + std::string(value->kind_text()) +
                (needs_list ? "; IN and NOT_IN need an array" : "; only IN and NOT_IN take an array"));
        conditions.push_back({predicate.key, predicate.operator_, *std::move(value)});
    }
    return conditions;
}

template <class Row>
bool is_wanted(const Row& row, const schemas::find_request& request,
               const std::vector<condition>& conditions) {
    if (!request.ids.empty() &&
        std::find(request.ids.begin(), request.ids.end(), row.id.value) == request.ids.end())
        return false;
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const condition& one) { return one.holds(*property_of(row, one.key)); });
}

std::string_view sort_name(const registered_model& row) { return row.name; }
std::string_view sort_name(const model_version& row) { return row.version; }

template <class Row>
result<void> sort_rows(std::vector<Row>& rows, const schemas::find_request& request) {
    const auto by = [&](auto less) {
        std::stable_sort(rows.begin(), rows.end(), [&](const Row& left, const Row& right) {
            return request.ascending ? less(left, right) : less(right, left);
        });
    };
    if (request.sort_key == "name" || request.sort_key == "version")
        by([](const Row& left, const Row& right) { return sort_name(left) < sort_name(right); });
    else if (request.sort_key == "time_created")
        by([](const Row& left, const Row& right) { return left.time_created < right.time_created; });
    else if (request.sort_key == "time_updated" || request.sort_key.empty())
        by([](const Row& left, const Row& right) { return left.time_updated < right.time_updated; });
    else
        return runtime::invalid_argument("sort_key is \"" + request.sort_key +
                                         "\"; it must be name, version, time_created or time_updated");
    return {};
}

template <class Row>
result<found_page<Row>> page_of(std::vector<Row> rows, const schemas::find_request& request) {
    if (const auto sorted = sort_rows(rows, request); !sorted) return sorted.error();
    found_page<Row> page;
    page.total_records = rows.size();
    const schemas::pagination paging = request.pagination.value_or(schemas::pagination{1, -1});
    if (paging.page_limit < 0) {
        page.rows = std::move(rows);
        return page;
    }
    // Clients send unset fields as zeros: the defaults are meant.
    const auto limit = static_cast<std::size_t>(paging.page_limit == 0 ? 10 : paging.page_limit);
    const auto number = static_cast<std::size_t>(paging.page_number <= 0 ? 1 : paging.page_number);
    if (limit > limits::page_limit_max)
        return runtime::invalid_argument("page_limit is " + std::to_string(limit) + "; at most " +
                                         std::to_string(limits::page_limit_max));
    if ((number - 1) > rows.size() / limit) return page;
    const std::size_t begin = (number - 1) * limit;
    const std::size_t end = std::min(rows.size(), begin + limit);
    for (std::size_t i = begin; i < end; ++i) page.rows.push_back(std::move(rows[i]));
    return page;
}

/// Workspaces whose models the user may read: the named one, or all.
result<std::vector<schemas::workspace>> readable_workspaces(const state_view& state, schemas::user_id user,
                                                            std::string_view name) {
    std::vector<schemas::workspace> found;
    const auto may_read = [&](const schemas::workspace& candidate) {
        return is_allowed(state, user, candidate, schemas::protected_type::registered_model,
                          schemas::action::read);
    };
    if (!name.empty()) {
        auto named = workspace_named(state, name);
        if (!named || !may_read(*named))
            return runtime::not_found("workspace \"" + std::string(name) + "\" not found");
        found.push_back(*std::move(named));
        return found;
    }
    state.scan(key_of(table::workspace), {}, [&](std::string_view key, std::string_view value) {
        auto candidate = decode_row<schemas::workspace>(key, value);
        if (may_read(candidate)) found.push_back(std::move(candidate));
        return true;
    });
    return found;
}

/// Gathers the rows that fit, within the bound on rows looked at.
template <class Row>
class gatherer {
  public:
    gatherer(const schemas::find_request& request, const std::vector<condition>& conditions)
        : x_request(request), x_conditions(conditions) {}

    /// Returns false once too many rows were looked at.
    bool look_at(std::optional<Row> row) {
        if (++x_seen > limits::list_rows_max) return false;
        if (row && is_wanted(*row, x_request, x_conditions)) x_rows.push_back(*std::move(row));
        return true;
    }
    result<found_page<Row>> page() {
        if (x_seen > limits::list_rows_max)
            return runtime::resource_exhausted(
                "more than " + std::to_string(limits::list_rows_max) +
                " records would have to be searched; name a workspace or a model");
        return page_of(std::move(x_rows), x_request);
    }

  private:
    const schemas::find_request& x_request;
    const std::vector<condition>& x_conditions;
    std::vector<Row> x_rows;
    std::size_t x_seen = 0;
};

/// The name that a predicate `name == …` asks for: such a look-up needs no search.
std::optional<std::string> exact_name(const std::vector<condition>& conditions) {
    for (const condition& one : conditions)
        if ((one.key == "version" || one.key == "name") && one.op == find_operator::eq)
            return text_in(one.value);
    return std::nullopt;
}

bool gather_versions(const state_view& state, schemas::model_id model,
                     const std::vector<condition>& conditions, gatherer<model_version>& rows) {
    const auto row_of = [&](std::uint64_t id) {
        return find_row<model_version>(state, key_of(table::version).number(id));
    };
    if (const auto name = exact_name(conditions)) {
        const auto id = find_number(state, key_of(table::version_by_name).number(model).text(*name));
        return !id || rows.look_at(row_of(*id));
    }
    bool going = true;
    state.scan(key_of(table::version_of_model).number(model), {},
               [&](std::string_view key, std::string_view) {
                   return going = rows.look_at(row_of(number_in_key(key, 8)));
               });
    return going;
}

}  // namespace

result<found_page<registered_model>> find_models(const state_view& state, schemas::user_id user,
                                                 const schemas::find_request& request) {
    const auto conditions = conditions_of<registered_model>(request);
    if (!conditions) return conditions.error();
    const auto workspaces = readable_workspaces(state, user, request.workspace_name);
    if (!workspaces) return workspaces.error();
    gatherer<registered_model> rows(request, *conditions);
    for (const schemas::workspace& workspace : *workspaces) {
        state.scan(key_of(table::model_of_workspace).number(workspace.id), {},
                   [&](std::string_view key, std::string_view) {
                       return rows.look_at(find_row<registered_model>(
                           state, key_of(table::model).number(number_in_key(key, 8))));
                   });
    }
    return rows.page();
}

result<found_page<model_version>> find_versions(const state_view& state, schemas::user_id user,
                                                const schemas::find_request& request) {
    const auto conditions = conditions_of<model_version>(request);
    if (!conditions) return conditions.error();
    gatherer<model_version> rows(request, *conditions);
    const schemas::find_target target = request.id.value_or(schemas::find_target{});
    if (target.registered_model_id || (target.named_id && !target.named_id->name.empty())) {
        const auto model =
            target.registered_model_id
                ? readable_model(state, user, target.registered_model_id)
                : readable_model(state, user, target.named_id->workspace_name, target.named_id->name);
        if (!model) return model.error();
        gather_versions(state, model->row.id, *conditions, rows);
        return rows.page();
    }
    std::string workspace_name = request.workspace_name;
    if (workspace_name.empty() && target.named_id) workspace_name = target.named_id->workspace_name;
    const auto workspaces = readable_workspaces(state, user, workspace_name);
    if (!workspaces) return workspaces.error();
    for (const schemas::workspace& workspace : *workspaces) {
        state.scan(key_of(table::model_of_workspace).number(workspace.id), {},
                   [&](std::string_view key, std::string_view) {
                       return gather_versions(state, schemas::model_id{number_in_key(key, 8)}, *conditions,
                                              rows);
                   });
    }
    return rows.page();
}

}  // namespace herald::storage
