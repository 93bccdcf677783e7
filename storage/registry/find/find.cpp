#include "storage/registry/find/find.hpp"

#include <algorithm>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/find/planner.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using access::readable_model;
using schemas::model_version;
using schemas::registered_model;
using state::state_view;

const std::string& name_of(const registered_model& row) { return row.name; }
const std::string& name_of(const model_version& row) { return row.version; }
std::uint64_t model_of(const registered_model&) { return 0; }
std::uint64_t model_of(const model_version& row) { return row.registered_model_id.value; }

/// The workspaces whose models the user may read: the named one, or all.
result<find_scope> readable_workspaces(const state_view& state, schemas::user_id user,
                                       std::string_view name) {
    find_scope scope;
    const auto may_read = [&](const schemas::workspace& candidate, access::remembering keeps) {
        return access::is_allowed(state, user, candidate, schemas::protected_type::registered_model,
                                  schemas::action::read, keeps);
    };
    if (!name.empty()) {
        const auto named = access::workspace_named(state, name);
        const std::string what = "workspace \"" + std::string(name) + "\"";
        if (!named) return runtime::not_found({what, " not found"});
        if (const auto may = access::require_in(
                state, user, *named, schemas::protected_type::registered_model, schemas::action::read, what);
            !may)
            return may.error();
        scope.workspaces.push_back(named->id.value);
        return scope;
    }
    tables::workspaces::each(state, [&](const schemas::workspace& candidate) {
        if (may_read(candidate, access::remembering::no)) scope.workspaces.push_back(candidate.id.value);
        return true;
    });
    return scope;
}

/// Errors: not_found.
result<find_scope> scope_of_versions(const state_view& state, schemas::user_id user,
                                     const schemas::find_request& request) {
    const schemas::find_target target = request.id.value_or(schemas::find_target{});
    if (target.registered_model_id || (target.named_id && !target.named_id->name.empty())) {
        const auto model =
            target.registered_model_id
                ? readable_model(state, user, target.registered_model_id)
                : readable_model(state, user, target.named_id->workspace_name, target.named_id->name);
        if (!model) return model.error();
        return find_scope{{model->workspace.id.value}, model->row.id.value};
    }
    std::string name = request.workspace_name;
    if (name.empty() && target.named_id) name = target.named_id->workspace_name;
    return readable_workspaces(state, user, name);
}

template <class Table>
class searcher final : public search<typename Table::row_type> {
  public:
    using row_type = typename Table::row_type;

    searcher(const state_view& state, find_scope scope, page_of_rows page, plan how)
        : x_state(state), x_scope(std::move(scope)), x_page(std::move(page)), x_plan(std::move(how)) {
        // Then no row behind the page needs to be looked at.
        x_wanted = x_page.wanted();
        x_stops_early = x_plan.total && x_plan.is_in_order && !x_plan.reads_rows;
        if (x_stops_early && x_plan.sources.size() == 1) x_page.expect_in_order();
        begin_source();
    }

    bool go_on(const enough_check& enough) override {
        while (!x_plan.sources.empty() && !x_page.is_too_deep()) {
            if (!walk_first(enough)) return false;
            begin_source();
        }
        return true;
    }

    result<chosen_page> take() override {
        auto chosen = std::move(x_page).choose(x_plan.total);
        if (chosen) x_rows.begin(chosen->ids);
        return chosen;
    }

    std::vector<row_type> read() override { return x_rows.next(x_state); }

  private:
    bool is_enough(const enough_check& enough) {
        return ++x_seen % limits::find_rows_between_looks == 0 && enough();
    }

    const source& first() const { return x_children.empty() ? x_plan.sources.front() : x_children.front(); }
    void begin_source() {
        x_at.reset();
        x_taken = 0;
        if (x_plan.sources.empty()) return;
        const auto* list = std::get_if<listed_source>(&first());
        if (x_stops_early) x_at = x_page.after();
        if (!list || x_at) return;
        // Only the part of a list in which the times lie.
        const number_range& times = x_plan.times;
        if (!x_page.is_ascending() && times.last < UINT64_MAX)
            x_at = place_in_order{{}, static_cast<std::int64_t>(times.last), UINT64_MAX};
        else if (x_page.is_ascending() && times.first > 0)
            x_at = place_in_order{{}, static_cast<std::int64_t>(times.first), 0};
    }

    /// False once it is enough for this slice.
    bool walk_first(const enough_check& enough) {
        auto* models = std::get_if<models_source>(&x_plan.sources.front());
        if (models && x_children.empty()) {
            if (is_enough(enough)) return false;
            x_children = next_of(x_state, *models, x_models_at);
            if (!x_children.empty()) return true;
            x_models_at.reset();
            x_plan.sources.pop_front();
            return true;
        }
        bool goes_on = true;
        const auto begin = x_at;
        walk<Table>(x_state, first(), x_page.is_ascending(), begin, [&](const glimpse& seen) {
            place_in_order& at = x_at ? *x_at : x_at.emplace();
            at.id = seen.id;
            at.time_ms = seen.time_updated.value_or(0);
            if (seen.name) at.name = *seen.name;
            if (is_behind_times(seen)) return false;
            look_at(seen);
            if (x_stops_early && x_taken >= x_wanted) return false;
            return goes_on = !is_enough(enough);
        });
        if (!goes_on) return false;
        if (models)
            x_children.pop_front();
        else
            x_plan.sources.pop_front();
        return true;
    }
    bool is_behind_times(const glimpse& seen) const {
        if (!seen.time_updated) return false;
        const auto time = static_cast<std::uint64_t>(*seen.time_updated);
        return x_page.is_ascending() ? time > x_plan.times.last : time < x_plan.times.first;
    }

    void look_at(const glimpse& seen) {
        if (!x_plan.ids.holds(seen.id) || (x_plan.only && !x_plan.only->contains(seen.id))) return;
        if (seen.model != 0 && !is_of_scope(seen.model)) return;
        const auto holds_told = [&](const condition& one) { return one.holds(seen); };
        if (!std::all_of(x_plan.on_glimpses.begin(), x_plan.on_glimpses.end(), holds_told)) return;
        if (!x_plan.reads_rows) {
            ++x_taken;
            x_page.add(x_page.place_of(seen.id, seen.name.value_or(""), seen.time_updated.value_or(0)));
            return;
        }
        const auto row = Table::find(x_state, {seen.id});
        if (!row || (x_plan.checks_scope && !is_in_scope(*row)) || is_seen_by_an_earlier_label(*row)) return;
        const auto holds = [&](const condition& one) { return one.holds(*row); };
        if (!std::all_of(x_plan.on_rows.begin(), x_plan.on_rows.end(), holds)) return;
        x_page.add(x_page.place_of(row->id.value, name_of(*row), row->time_updated));
    }
    bool is_of_scope(std::uint64_t model) const {
        return (!x_scope.model || *x_scope.model == model) &&
               !(x_plan.hides_deleted && tables::deleted_models::has(x_state, {model}));
    }
    bool is_in_scope(const row_type& row) const {
        return std::binary_search(x_scope.workspaces.begin(), x_scope.workspaces.end(),
                                  row.workspace_id.value) &&
               (model_of(row) == 0 ||
                (is_of_scope(model_of(row)) && tables::models::has(x_state, {model_of(row)})));
    }
    bool is_seen_by_an_earlier_label(const row_type& row) const {
        if (x_plan.labels.empty()) return false;
        const auto* list = std::get_if<listed_source>(&x_plan.sources.front());
        for (std::size_t i = 0; list && i < list->label; ++i)
            if (std::binary_search(row.labels.begin(), row.labels.end(), x_plan.labels[i])) return true;
        return false;
    }

    const state_view& x_state;
    const find_scope x_scope;
    page_of_rows x_page;
    plan x_plan;
    bool x_stops_early = false;
    std::uint64_t x_wanted = 0;
    std::optional<place_in_order> x_at;         // where the first source stands
    std::deque<source> x_children;              // of a models_source that is the first
    std::optional<place_in_order> x_models_at;  // where that one stands
    std::uint64_t x_taken = 0;                  // of the first source
    std::size_t x_seen = 0;
    rows_of_page<Table> x_rows;
};

template <class Table>
search_pointer<typename Table::row_type> begin(const state_view& state, find_scope scope,
                                               std::vector<condition> conditions, page_of_rows page,
                                               const schemas::find_request& request) {
    std::vector<std::uint64_t> only = request.ids;
    std::sort(only.begin(), only.end());
    only.erase(std::unique(only.begin(), only.end()), only.end());
    plan how = plan_of<Table>(state, scope, std::move(conditions), std::move(only), page);
    return std::make_unique<searcher<Table>>(state, std::move(scope), std::move(page), std::move(how));
}

}  // namespace

error too_long() {
    return runtime::invalid_argument(
        {"the search took longer than ", limits::find_ms_max / 1'000,
         " s; name a workspace or a model, of a history the model or the version, of the audit a since and "
         "an "
         "until that are nearer to each other; or add a predicate with EQ or IN on id, name or version, "
         "labels, stage or owner, or one that bounds time_created or time_updated: an index answers these"});
}

result<search_pointer<registered_model>> search_models(const state_view& state, schemas::user_id user,
                                                       const schemas::find_request& request) {
    auto scope = readable_workspaces(state, user, request.workspace_name);
    if (!scope) return scope.error();
    auto conditions = conditions_on_models(request);
    if (!conditions) return conditions.error();
    auto page = page_of_rows::of(request, question("models", request));
    if (!page) return page.error();
    return begin<tables::models>(state, *std::move(scope), *std::move(conditions), *std::move(page), request);
}

result<search_pointer<model_version>> search_versions(const state_view& state, schemas::user_id user,
                                                      const schemas::find_request& request) {
    auto scope = scope_of_versions(state, user, request);
    if (!scope) return scope.error();
    auto conditions = conditions_on_versions(request);
    if (!conditions) return conditions.error();
    auto page = page_of_rows::of(request, question("versions", request));
    if (!page) return page.error();
    return begin<tables::versions>(state, *std::move(scope), *std::move(conditions), *std::move(page),
                                   request);
}

}  // namespace herald::storage::registry::find
