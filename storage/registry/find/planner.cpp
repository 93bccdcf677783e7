#include "storage/registry/find/planner.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;
using tables::row_list;
namespace lists = tables::lists;

/// A way to the rows, and how many it would look at.
struct way {
    std::vector<source> sources;
    std::uint64_t rows = 0;
    std::optional<std::size_t> answers = {};  // this condition, by itself
    std::vector<std::string> labels = {};     // more than one
    /// Whether the lists, and nothing but them, hold exactly the rows counted.
    bool is_counted = false;
};

std::uint64_t sum(std::uint64_t left, std::uint64_t right) {
    return left > UINT64_MAX - right ? UINT64_MAX : left + right;
}

template <class Table>
constexpr bool of_versions = std::is_same_v<Table, tables::versions>;

template <class Table>
class planner {
  public:
    planner(const state_view& state, const find_scope& scope, std::vector<condition> conditions,
            std::vector<std::uint64_t> only, const page_of_rows& page)
        : x_state(state),
          x_scope(scope),
          x_conditions(std::move(conditions)),
          x_only(std::move(only)),
          x_page(page) {}

    plan make() && {
        bound_ids();
        x_plan.hides_deleted = of_versions<Table> && tables::deleted_models::first(x_state, {}).has_value();
        if (x_plan.ids.is_empty()) {
            x_plan.total = 0;
            return std::move(x_plan);
        }
        take(best());
        return std::move(x_plan);
    }

  private:
    static std::string_view name_key() { return of_versions<Table> ? "version" : "name"; }

    // ---- ids: conditions on id and on time_created are bounds of ids, which are given in order of creation
    void bound_ids() {
        std::erase_if(x_conditions, [&](const condition& one) {
            if (one.key() != "id" && one.key() != "time_created") return false;
            const auto range = one.range();
            if (!range) return false;
            x_plan.ids.narrow(one.key() == "id" ? *range : created_in(*range));
            return true;
        });
        if (!x_only.empty()) x_plan.only.emplace(x_only.begin(), x_only.end());
    }
    number_range created_in(const number_range& times) const {
        if (times.is_empty()) return times;
        number_range ids;
        ids.first = first_created_from(times.first);
        if (times.last < UINT64_MAX) ids.last = first_created_from(times.last + 1) - 1;
        return ids;
    }
    /// The first id whose row was created then or later; one behind the last.
    std::uint64_t first_created_from(std::uint64_t time_ms) const {
        std::uint64_t low = 1, high = last_id() + 1;
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            const auto row = Table::first_from(x_state, {middle});
            if (!row || static_cast<std::uint64_t>(row->time_created) >= time_ms)
                high = middle;
            else
                low = row->id.value + 1;
        }
        return low;
    }
    std::uint64_t last_id() const {
        if (!x_last_id) {
            const auto last = Table::last(x_state);
            x_last_id = last ? last->id.value : 0;
        }
        return *x_last_id;
    }

    // ---- the ways
    way best() {
        way best = whole();
        const auto offer = [&](way other) {
            if (other.rows < best.rows) best = std::move(other);
        };
        for (std::size_t i = 0; i < x_conditions.size(); ++i) {
            const condition& one = x_conditions[i];
            if (!one.is_listed()) continue;
            if (one.key() == name_key()) offer(by_name(one));
            if (one.key() == "id") offer(by_ids(one.numbers()));
            if (one.key() == "labels") offer(by_label(one, i));
            if (one.key() == "owner") offer(by_owner(one, i));
            if (!of_versions<Table>) continue;
            if (one.key() == "stage") offer(by_stage(one, i));
            if (one.key() == "registered_model_id") offer(by_model(one, i));
            if (one.key() == "experiment_run_id") offer(by_run(one, i));
        }
        if (!x_only.empty()) offer(by_ids(x_only));
        if (x_plan.ids.first > 1 || x_plan.ids.last < UINT64_MAX) offer(by_span());
        return best;
    }

    /// All of the scope.
    way whole() const {
        way out;
        out.is_counted = true;
        if (x_scope.model) {
            out.sources.push_back(child_source(*x_scope.model));
            out.rows = lists::count(x_state, row_list::versions_of(schemas::model_id{*x_scope.model}));
            return out;
        }
        for (const std::uint64_t workspace : x_scope.workspaces) {
            out.sources.push_back(child_source(workspace));
            out.rows = sum(out.rows, lists::count(x_state, all_of(workspace)));
        }
        return out;
    }
    /// A source of the rows of a workspace, or of a model: the one in the order of the page, if that says
    /// enough.
    source child_source(std::uint64_t parent) const {
        const bool through_models = of_versions<Table> && !x_scope.model;
        const bool by_name = x_page.key() == sort_key::name && is_all_told(name_key(), "registered_model_id");
        const bool by_id = x_page.key() == sort_key::time_created && is_all_told("registered_model_id", "");
        if (by_name && through_models) return models_source{parent, names_source{}};
        if (by_name) return names_source{parent};
        if (by_id && !through_models) return children_source{parent};
        if (x_scope.model) return listed_source{row_list::versions_of(schemas::model_id{parent})};
        return listed_source{all_of(parent)};
    }
    /// Whether a source with ids and these members has enough for all conditions.
    bool is_all_told(std::string_view one, std::string_view other) const {
        return std::all_of(x_conditions.begin(), x_conditions.end(), [&](const condition& asked) {
            return asked.key() == "id" || asked.key() == one || asked.key() == other;
        });
    }

    static row_list all_of(std::uint64_t workspace) {
        const schemas::workspace_id id{workspace};
        return of_versions<Table> ? row_list::versions_of(id) : row_list::models_of(id);
    }

    way by_ids(std::vector<std::uint64_t> ids) const {
        way out;
        out.rows = ids.size();
        out.sources.push_back(ids_source{std::move(ids)});
        return out;
    }
    way by_span() const {
        number_range ids = x_plan.ids;
        ids.last = std::min(ids.last, last_id());
        way out;
        out.rows = ids.is_empty() ? 0 : ids.last - ids.first + 1;
        if (!ids.is_empty()) out.sources.push_back(span_source{ids});
        return out;
    }
    way by_name(const condition& asked) const {
        const auto names = asked.texts();
        way out;
        if (!of_versions<Table> || x_scope.model) {
            std::vector<std::uint64_t> parents = x_scope.workspaces;
            if (x_scope.model) parents = {*x_scope.model};
            for (const std::uint64_t parent : parents) out.sources.push_back(named_source{parent, names});
            out.rows = parents.size() * names.size();
            return out;
        }
        for (const std::uint64_t workspace : x_scope.workspaces) {
            out.sources.push_back(models_source{workspace, named_source{0, names}});
            const row_list models = row_list::models_of(schemas::workspace_id{workspace});
            out.rows = sum(out.rows, names.size() * lists::count(x_state, models));
        }
        return out;
    }

    /// A list in each workspace, for each thing asked for.
    template <class Asked, class ListOf>
    way in_lists(std::size_t condition, const std::vector<Asked>& all, ListOf list_of) const {
        way out;
        out.answers = condition;
        out.is_counted = !x_scope.model;
        for (const std::uint64_t workspace : x_scope.workspaces)
            for (std::size_t i = 0; i < all.size(); ++i) {
                const row_list list = list_of(schemas::workspace_id{workspace}, all[i]);
                const std::uint64_t rows = lists::count(x_state, list);
                if (rows == 0) continue;
                out.rows = sum(out.rows, rows);
                out.sources.push_back(listed_source{list, i});
            }
        return out;
    }
    /// No text of a row, and so no list, holds a 0 byte.
    static std::vector<std::string> possible(std::vector<std::string> texts) {
        std::erase_if(texts, [](const std::string& text) { return text.find('\0') != std::string::npos; });
        return texts;
    }
    way by_label(const condition& asked, std::size_t place) const {
        const auto labels = possible(asked.texts());
        way out = in_lists(place, labels, [](schemas::workspace_id workspace, const std::string& label) {
            return of_versions<Table> ? row_list::versions_labelled(workspace, label)
                                      : row_list::models_labelled(workspace, label);
        });
        if (labels.size() > 1) out.labels = labels;
        return out;
    }
    way by_owner(const condition& asked, std::size_t place) const {
        std::vector<schemas::user_id> owners;
        for (const std::string& text : asked.texts()) {
            const auto number = runtime::parse_decimal(text);
            if (number && std::to_string(*number) == text) owners.push_back({*number});
        }
        return in_lists(place, owners, [](schemas::workspace_id workspace, schemas::user_id owner) {
            return of_versions<Table> ? row_list::versions_owned_by(workspace, owner)
                                      : row_list::models_owned_by(workspace, owner);
        });
    }
    way by_stage(const condition& asked, std::size_t place) const {
        std::vector<schemas::stage> stages;
        for (const std::uint64_t number : asked.numbers())
            stages.push_back(static_cast<schemas::stage>(number));
        if (std::find(stages.begin(), stages.end(), schemas::stage::unassigned) != stages.end())
            return nowhere();
        return in_lists(place, stages, [](schemas::workspace_id workspace, schemas::stage stage) {
            return row_list::versions_in(workspace, stage);
        });
    }
    way by_run(const condition& asked, std::size_t place) const {
        const auto runs = possible(asked.texts());
        if (std::find(runs.begin(), runs.end(), "") != runs.end()) return nowhere();
        return in_lists(place, runs, [](schemas::workspace_id workspace, const std::string& run) {
            return row_list::versions_of_run(workspace, run);
        });
    }
    way by_model(const condition& asked, std::size_t place) const {
        way out;
        out.answers = place;
        out.is_counted = true;
        for (const std::uint64_t number : asked.numbers()) {
            if (x_scope.model && *x_scope.model != number) continue;
            const auto model = tables::models::find(x_state, {number});
            if (!model || !std::binary_search(x_scope.workspaces.begin(), x_scope.workspaces.end(),
                                              model->workspace_id.value))
                continue;
            const row_list list = row_list::versions_of(model->id);
            out.rows = sum(out.rows, lists::count(x_state, list));
            out.sources.push_back(listed_source{list});
        }
        return out;
    }
    static way nowhere() {
        way out;
        out.rows = UINT64_MAX;
        return out;
    }

    // ---- the remaining conditions on the chosen one
    template <class Kind>
    static bool are(const std::vector<source>& all) {
        return std::all_of(all.begin(), all.end(),
                           [](const source& each) { return std::holds_alternative<Kind>(each); });
    }
    void take(way chosen) {
        if (chosen.answers)
            x_conditions.erase(x_conditions.begin() + static_cast<std::ptrdiff_t>(*chosen.answers));
        const bool in_lists = are<listed_source>(chosen.sources);
        const bool by_name = are<names_source>(chosen.sources);
        const bool by_id = are<children_source>(chosen.sources);
        const bool tells_name = by_name || tells_names_of_models(chosen.sources);
        const bool is_exact = are<ids_source>(chosen.sources) || are<span_source>(chosen.sources);
        for (condition& one : x_conditions) {
            const bool is_told = one.key() == "id" || (one.key() == "time_updated" && in_lists) ||
                                 (one.key() == "registered_model_id" && !is_exact) ||
                                 (one.key() == name_key() && tells_name);
            if (const auto range = one.key() == "time_updated" ? one.range() : std::nullopt)
                x_plan.times.narrow(*range);
            (is_told ? x_plan.on_glimpses : x_plan.on_rows).push_back(std::move(one));
        }
        const sort_key key = x_page.key();
        const bool is_place_told = key == sort_key::time_created || (key == sort_key::name && tells_name) ||
                                   (key == sort_key::time_updated && in_lists);
        x_plan.checks_scope = is_exact && !chosen.sources.empty();
        x_plan.labels = std::move(chosen.labels);
        x_plan.reads_rows =
            x_plan.checks_scope || !is_place_told || !x_plan.on_rows.empty() || !x_plan.labels.empty();
        x_plan.is_in_order = (key == sort_key::time_updated && in_lists) ||
                             (key == sort_key::name && by_name) || (key == sort_key::time_created && by_id);
        const bool are_all_wanted = !x_plan.reads_rows && x_plan.on_glimpses.empty() && !x_plan.only &&
                                    x_plan.ids.first <= 1 && x_plan.ids.last == UINT64_MAX;
        const bool are_none_hidden = !x_plan.hides_deleted || x_scope.model;
        if (chosen.is_counted && are_all_wanted && are_none_hidden) x_plan.total = chosen.rows;
        x_plan.sources.assign(std::make_move_iterator(chosen.sources.begin()),
                              std::make_move_iterator(chosen.sources.end()));
    }
    static bool tells_names_of_models(const std::vector<source>& all) {
        return std::all_of(all.begin(), all.end(), [](const source& each) {
            const auto* models = std::get_if<models_source>(&each);
            return models && std::holds_alternative<names_source>(models->each);
        });
    }

    const state_view& x_state;
    const find_scope& x_scope;
    std::vector<condition> x_conditions;
    const std::vector<std::uint64_t> x_only;
    const page_of_rows& x_page;
    mutable std::optional<std::uint64_t> x_last_id;
    plan x_plan;
};

}  // namespace

template <class Table>
plan plan_of(const state_view& state, const find_scope& scope, std::vector<condition> conditions,
             std::vector<std::uint64_t> only, const page_of_rows& page) {
    return planner<Table>(state, scope, std::move(conditions), std::move(only), page).make();
}

template plan plan_of<tables::models>(const state_view&, const find_scope&, std::vector<condition>,
                                      std::vector<std::uint64_t>, const page_of_rows&);
template plan plan_of<tables::versions>(const state_view&, const find_scope&, std::vector<condition>,
                                        std::vector<std::uint64_t>, const page_of_rows&);

}  // namespace herald::storage::registry::find
