#include "storage/registry/find/find.hpp"

#include <algorithm>
#include <set>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using access::readable_model;
using schemas::model_version;
using schemas::registered_model;
using state::state_view;

void add(page_of_rows& page, const registered_model& row) {
    page.add(row.id.value, row.name, row.time_created, row.time_updated);
}
void add(page_of_rows& page, const model_version& row) {
    page.add(row.id.value, row.version, row.time_created, row.time_updated);
}

/// The workspaces whose models the user may read: the named one, or all.
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

/// Looks at rows, and reads those of the page again.
template <class Table>
class gatherer {
  public:
    using row_type = typename Table::row_type;

    gatherer(const state_view& state, const schemas::find_request& request,
             const std::vector<condition>& conditions, page_of_rows page, const late_check& late)
        : x_state(state),
          x_conditions(conditions),
          x_ids(request.ids.begin(), request.ids.end()),
          x_late(late),
          x_page(std::move(page)) {}

    /// Counts something passed on the way to the rows; false once it is late.
    bool pass() {
        if (++x_seen % limits::find_rows_between_looks == 0 && x_late()) x_is_late = true;
        return !x_is_late;
    }

    /// False once it is late.
    template <class Id>
    bool look_at(Id id) {
        if (!pass()) return false;
        if (!x_ids.empty() && !x_ids.contains(id.value)) return true;
        const auto row = Table::find(x_state, id);
        const auto holds = [&](const condition& one) { return one.holds(*row); };
        if (row && std::all_of(x_conditions.begin(), x_conditions.end(), holds)) add(x_page, *row);
        return true;
    }

    result<found_page<row_type>> page() && {
        if (x_is_late)
            return runtime::invalid_argument(
                "the search took longer than " + std::to_string(limits::find_ms_max / 1'000) +
                " s; name a workspace or a model, or add a predicate that asks for one name");
        page_of_rows::chosen chosen = std::move(x_page).choose();
        found_page<row_type> page;
        page.total_records = chosen.total;
        page.next_page_token = std::move(chosen.next_page_token);
        page.is_cut = chosen.is_cut;
        std::size_t bytes = 0;
        for (const std::uint64_t id : chosen.ids) {
            auto stored = Table::find_stored(x_state, {id});
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
    const std::vector<condition>& x_conditions;
    const std::set<std::uint64_t> x_ids;
    const late_check& x_late;
    page_of_rows x_page;
    std::size_t x_seen = 0;
    bool x_is_late = false;
};

/// A look-up by name needs no search.
std::optional<std::string> name_asked_for(const std::vector<condition>& conditions) {
    for (const condition& one : conditions)
        if (auto name = one.exact_name()) return name;
    return std::nullopt;
}

/// The children that an index lists: the one with that name, or all. False once it is late.
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
                                                 const schemas::find_request& request,
                                                 const late_check& late) {
    const auto conditions = conditions_on_models(request);
    if (!conditions) return conditions.error();
    auto asked = page_of_rows::of(request);
    if (!asked) return asked.error();
    const auto workspaces = readable_workspaces(state, user, request.workspace_name);
    if (!workspaces) return workspaces.error();
    gatherer<tables::models> rows(state, request, *conditions, *std::move(asked), late);
    const auto name = name_asked_for(*conditions);
    for (const schemas::workspace& workspace : *workspaces)
        if (!gather(state, workspace.id, name, rows)) break;
    return std::move(rows).page();
}

result<found_page<model_version>> find_versions(const state_view& state, schemas::user_id user,
                                                const schemas::find_request& request,
                                                const late_check& late) {
    const auto conditions = conditions_on_versions(request);
    if (!conditions) return conditions.error();
    auto asked = page_of_rows::of(request);
    if (!asked) return asked.error();
    gatherer<tables::versions> rows(state, request, *conditions, *std::move(asked), late);
    const auto name = name_asked_for(*conditions);
    const auto gather_model = [&](schemas::model_id model) { return gather(state, model, name, rows); };
    const schemas::find_target target = request.id.value_or(schemas::find_target{});
    if (target.registered_model_id || (target.named_id && !target.named_id->name.empty())) {
        const auto model =
            target.registered_model_id
                ? readable_model(state, user, target.registered_model_id)
                : readable_model(state, user, target.named_id->workspace_name, target.named_id->name);
        if (!model) return model.error();
        gather_model(model->row.id);
        return std::move(rows).page();
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
    return std::move(rows).page();
}

}  // namespace herald::storage::registry::find
