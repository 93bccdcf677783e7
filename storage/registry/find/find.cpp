#include "storage/registry/find/find.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using access::readable_model;
using schemas::find_operator;
using schemas::json_value;
using schemas::model_version;
using schemas::registered_model;
using state::state_view;

/// What a predicate looks at: texts of the row (any of several, as with labels), one that was made of it, or
/// one number.
struct property {
    std::span<const std::string> texts;
    std::optional<std::string> made;
    std::optional<double> number;

    std::span<const std::string> all_texts() const {
        return made ? std::span<const std::string>(&*made, 1) : texts;
    }
};

property text_property(const std::string& text) { return {{&text, 1}, {}, {}}; }
property made_property(std::string text) { return {{}, std::move(text), {}}; }
template <std::integral Number>
property number_property(Number number) {
    return {{}, {}, static_cast<double>(number)};
}

std::optional<double> number_in(const json_value& value) {
    if (const auto* fraction = value.get_if<double>()) return *fraction;
    if (const auto* whole = value.get_if<std::int64_t>()) return static_cast<double>(*whole);
    if (const auto* whole = value.get_if<std::uint64_t>()) return static_cast<double>(*whole);
    const auto* integer = value.get_if<schemas::long_integer>();
    const std::string* text = integer ? &integer->digits : value.get_if<std::string>();
    double parsed = 0;
    if (!text || text->empty()) return std::nullopt;
    const char* end = text->data() + text->size();
    const auto [stop, failure] = std::from_chars(text->data(), end, parsed);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    return parsed;
}

/// An attribute's value: text, number, or the text of its JSON form. Nothing when there is no such attribute.
property attribute_property(const std::vector<schemas::key_value>& attributes, std::string_view key) {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const schemas::key_value& each) { return each.key == key; });
    if (found == attributes.end()) return {};
    const auto value = schemas::parse_json(found->value.text);
    if (!value) return {};
    if (const auto* text = value->get_if<std::string>()) return made_property(*text);
    if (const auto number = number_in(*value)) return {{}, {}, number};
    return text_property(found->value.text);
}

constexpr std::string_view attribute_prefix = "attributes.";
constexpr std::string_view stage_key = "stage";  // its names are compared in lower case

std::optional<property> property_of(const registered_model& row, std::string_view key) {
    if (key == "id") return number_property(row.id.value);
    if (key == "name") return text_property(row.name);
    if (key == "description") return text_property(row.description);
    if (key == "owner") return made_property(std::to_string(row.owner.value));
    if (key == "labels") return property{row.labels, {}, {}};
    if (key == "time_created") return number_property(row.time_created);
    if (key == "time_updated") return number_property(row.time_updated);
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
    if (key == "owner") return made_property(std::to_string(row.owner.value));
    if (key == "labels") return property{row.labels, {}, {}};
    if (key == stage_key) return made_property(runtime::to_lower(name_of(row.stage)));
    if (key == "time_created") return number_property(row.time_created);
    if (key == "time_updated") return number_property(row.time_updated);
    if (key.starts_with(attribute_prefix))
        return attribute_property(row.attributes, key.substr(attribute_prefix.size()));
    return std::nullopt;
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

/// A value to compare with, made ready once for all rows.
struct operand {
    std::string text;
    std::optional<double> number;

    operand(const json_value& value, bool in_lower_case) : text(text_in(value)), number(number_in(value)) {
        if (in_lower_case) text = runtime::to_lower(text);
    }
};

/// A condition made of a predicate once, tried on every row.
struct condition {
    std::string key;
    find_operator op;
    std::vector<operand> wanted;  // one, or the list of IN and NOT_IN, by text

    bool holds(const property& found) const {
        switch (op) {
            case find_operator::ne:
                return !compare(found, find_operator::eq);
            case find_operator::not_contain:
                return !compare(found, find_operator::contain);
            case find_operator::in:
                return is_in(found);
            case find_operator::not_in:
                return !is_in(found);
            default:
                return compare(found, op);
        }
    }

  private:
    bool compare(const property& found, find_operator by) const {
        const operand& other = wanted.front();
        if (found.number) return other.number && ordered(by, *found.number, *other.number);
        const auto texts = found.all_texts();
        return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
            if (by == find_operator::contain) return text.find(other.text) != std::string::npos;
            return ordered(by, text, other.text);
        });
    }
    bool is_in(const property& found) const {
        if (found.number)
            return std::any_of(wanted.begin(), wanted.end(),
                               [&](const operand& each) { return each.number == found.number; });
        const auto texts = found.all_texts();
        return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
            const auto at =
                std::lower_bound(wanted.begin(), wanted.end(), text,
                                 [](const operand& a, const std::string& b) { return a.text < b; });
            return at != wanted.end() && at->text == text;
        });
    }
};

template <class Row>
result<std::vector<condition>> conditions_of(const schemas::find_request& request) {
    std::vector<condition> conditions;
    std::size_t values = 0;
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
        const auto* list = value->get_if<schemas::json_array>();
        values += list ? list->size() : 1;
        if (values > limits::find_values_max)
            return runtime::invalid_argument("the predicates hold more than " +
                                             std::to_string(limits::find_values_max) +
                                             " values to compare with; ask for fewer at once");
        condition one{predicate.key, predicate.operator_, {}};
        const bool in_lower_case = predicate.key == stage_key;
        if (list)
            for (const json_value& item : *list) one.wanted.emplace_back(item, in_lower_case);
        else
            one.wanted.emplace_back(*value, in_lower_case);
        std::sort(one.wanted.begin(), one.wanted.end(),
                  [](const operand& a, const operand& b) { return a.text < b.text; });
        conditions.push_back(std::move(one));
    }
    return conditions;
}

/// What sorting needs of a row that is wanted: the row itself is read again only if its page is asked for.
struct candidate {
    std::uint64_t id = 0;
    std::string name;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
};

candidate candidate_of(const registered_model& row) {
    return {row.id.value, row.name, row.time_created, row.time_updated};
}
candidate candidate_of(const model_version& row) {
    return {row.id.value, row.version, row.time_created, row.time_updated};
}

result<void> sort_candidates(std::vector<candidate>& rows, const schemas::find_request& request) {
    const auto by = [&](auto candidate::*member) {
        std::stable_sort(rows.begin(), rows.end(), [&](const candidate& left, const candidate& right) {
            return request.ascending ? left.*member < right.*member : right.*member < left.*member;
        });
    };
    if (request.sort_key == "name" || request.sort_key == "version")
        by(&candidate::name);
    else if (request.sort_key == "time_created")
        by(&candidate::time_created);
    else if (request.sort_key == "time_updated" || request.sort_key.empty())
        by(&candidate::time_updated);
    else
        return runtime::invalid_argument("sort_key is \"" + request.sort_key +
                                         "\"; it must be name, version, time_created or time_updated");
    return {};
}

/// Drops what lies outside the page that is asked for.
result<void> cut_page(std::vector<candidate>& rows, const schemas::find_request& request) {
    const schemas::pagination paging = request.pagination.value_or(schemas::pagination{1, -1});
    if (paging.page_limit < 0) return {};
    // Clients send unset fields as zeros: the defaults are meant.
    const auto limit = static_cast<std::size_t>(paging.page_limit == 0 ? 10 : paging.page_limit);
    const auto number = static_cast<std::size_t>(paging.page_number <= 0 ? 1 : paging.page_number);
    if (limit > limits::page_limit_max)
        return runtime::invalid_argument("page_limit is " + std::to_string(limit) + "; at most " +
                                         std::to_string(limits::page_limit_max));
    const std::size_t begin = number - 1 > rows.size() / limit ? rows.size() : (number - 1) * limit;
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(begin, rows.size())));
    if (rows.size() > limit) rows.resize(limit);
    return {};
}

/// Workspaces whose models the user may read: the named one, or all.
result<std::vector<schemas::workspace>> readable_workspaces(const state_view& state, schemas::user_id user,
                                                            std::string_view name) {
    std::vector<schemas::workspace> found;
    const auto may_read = [&](const schemas::workspace& candidate) {
        return access::is_allowed(state, user, candidate, schemas::protected_type::registered_model,
                                  schemas::action::read);
    };
    if (!name.empty()) {
        auto named = access::workspace_named(state, name);
        if (!named || !may_read(*named))
            return runtime::not_found("workspace \"" + std::string(name) + "\" not found");
        found.push_back(*std::move(named));
        return found;
    }
    tables::workspaces::each(state, [&](const schemas::workspace& candidate) {
        if (may_read(candidate)) found.push_back(candidate);
        return true;
    });
    return found;
}

/// Gathers the rows that fit, within the bound on rows looked at.
template <class Table>
class gatherer {
  public:
    using row_type = typename Table::row_type;

    gatherer(const state_view& state, const schemas::find_request& request,
             const std::vector<condition>& conditions)
        : x_state(state),
          x_request(request),
          x_conditions(conditions),
          x_ids(request.ids.begin(), request.ids.end()) {}

    /// Counts something that had to be passed on the way to the rows; false once it was too much.
    bool pass() { return ++x_seen <= limits::list_rows_max; }

    /// False once too many rows were looked at.
    template <class Id>
    bool look_at(Id id) {
        if (!pass()) return false;
        if (!x_ids.empty() && !x_ids.contains(id.value)) return true;
        const auto row = Table::find(x_state, id);
        const auto holds = [&](const condition& one) { return one.holds(*property_of(*row, one.key)); };
        if (row && std::all_of(x_conditions.begin(), x_conditions.end(), holds))
            x_found.push_back(candidate_of(*row));
        return true;
    }

    result<found_page<row_type>> page() {
        if (x_seen > limits::list_rows_max)
            return runtime::invalid_argument(
                "more than " + std::to_string(limits::list_rows_max) +
                " records would have to be searched; name a workspace or a model");
        found_page<row_type> page;
        page.total_records = x_found.size();
        if (const auto sorted = sort_candidates(x_found, x_request); !sorted) return sorted.error();
        if (const auto cut = cut_page(x_found, x_request); !cut) return cut.error();
        std::size_t bytes = 0;
        for (const candidate& one : x_found) {
            auto stored = Table::find_stored(x_state, {one.id});
            if (!stored) continue;
            bytes += stored->bytes;
            if (bytes > limits::find_answer_bytes_max)
                return runtime::invalid_argument("the answer would be more than " +
                                                 std::to_string(limits::find_answer_bytes_max) +
                                                 " bytes; ask for fewer with pagination.page_limit");
            page.rows.push_back(std::move(stored->row));
        }
        return page;
    }

  private:
    const state_view& x_state;
    const schemas::find_request& x_request;
    const std::vector<condition>& x_conditions;
    const std::set<std::uint64_t> x_ids;
    std::vector<candidate> x_found;
    std::size_t x_seen = 0;
};

/// The name that a predicate `name == …` asks for: such a look-up needs no search.
std::optional<std::string> exact_name(const std::vector<condition>& conditions) {
    for (const condition& one : conditions)
        if ((one.key == "version" || one.key == "name") && one.op == find_operator::eq)
            return one.wanted.front().text;
    return std::nullopt;
}

/// The children that an index names: the one of that name, or all. False once too many were looked at.
template <class Table, class Parent>
bool gather(const state_view& state, Parent parent, const std::optional<std::string>& name,
            gatherer<Table>& rows) {
    if (name) {
        const auto id = Table::named(state, parent, *name);
        return !id || rows.look_at(*id);
    }
    bool going = true;
    Table::each_of(state, parent, {}, [&](auto id) { return going = rows.look_at(id); });
    return going;
}

}  // namespace

result<found_page<registered_model>> find_models(const state_view& state, schemas::user_id user,
                                                 const schemas::find_request& request) {
    const auto conditions = conditions_of<registered_model>(request);
    if (!conditions) return conditions.error();
    const auto workspaces = readable_workspaces(state, user, request.workspace_name);
    if (!workspaces) return workspaces.error();
    gatherer<tables::models> rows(state, request, *conditions);
    const auto name = exact_name(*conditions);
    for (const schemas::workspace& workspace : *workspaces)
        if (!gather(state, workspace.id, name, rows)) break;
    return rows.page();
}

result<found_page<model_version>> find_versions(const state_view& state, schemas::user_id user,
                                                const schemas::find_request& request) {
    const auto conditions = conditions_of<model_version>(request);
    if (!conditions) return conditions.error();
    gatherer<tables::versions> rows(state, request, *conditions);
    const auto name = exact_name(*conditions);
    const auto gather_model = [&](schemas::model_id model) { return gather(state, model, name, rows); };
    const schemas::find_target target = request.id.value_or(schemas::find_target{});
    if (target.registered_model_id || (target.named_id && !target.named_id->name.empty())) {
        const auto model =
            target.registered_model_id
                ? readable_model(state, user, target.registered_model_id)
                : readable_model(state, user, target.named_id->workspace_name, target.named_id->name);
        if (!model) return model.error();
        gather_model(model->row.id);
        return rows.page();
    }
    std::string workspace_name = request.workspace_name;
    if (workspace_name.empty() && target.named_id) workspace_name = target.named_id->workspace_name;
    const auto workspaces = readable_workspaces(state, user, workspace_name);
    if (!workspaces) return workspaces.error();
    bool going = true;
    for (const schemas::workspace& workspace : *workspaces)
        if (going)
            tables::models::each_of(state, workspace.id, {}, [&](schemas::model_id model) {
                return going = rows.pass() && gather_model(model);
            });
    return rows.page();
}

}  // namespace herald::storage::registry::find
