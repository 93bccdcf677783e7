#include "storage/registry/find/find.hpp"

#include <algorithm>
#include <set>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using access::readable_model;
using schemas::model_version;
using schemas::registered_model;
using state::state_view;

/// What sorting needs of a matching row: the row itself is read again only if its page is requested.
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

/// Drops everything outside the requested page.
result<void> cut_page(std::vector<candidate>& rows, const schemas::find_request& request) {
    const schemas::pagination paging = request.pagination.value_or(schemas::pagination{1, -1});
    // Clients send unset fields as zeros.
    if (paging.page_limit == -1 || paging.page_limit == 0) return {};
    if (paging.page_limit < 0)
        return runtime::invalid_argument("page_limit is " + std::to_string(paging.page_limit) +
                                         "; it must be 1 to " + std::to_string(limits::page_limit_max) +
                                         ", or -1 for all");
    const auto limit = static_cast<std::size_t>(paging.page_limit);
    const auto number = static_cast<std::size_t>(paging.page_number <= 0 ? 1 : paging.page_number);
    if (limit > limits::page_limit_max)
        return runtime::invalid_argument("page_limit is " + std::to_string(limit) + "; at most " +
                                         std::to_string(limits::page_limit_max));
    const std::size_t begin = number - 1 > rows.size() / limit ? rows.size() : (number - 1) * limit;
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(begin, rows.size())));
    if (rows.size() > limit) rows.resize(limit);
    return {};
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

/// Collects the matching rows, within the bound on rows looked at.
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

    /// Counts something passed on the way to the rows; false once the bound is exceeded.
    bool pass() { return ++x_seen <= limits::list_rows_max; }

    /// False once too many rows were looked at.
    template <class Id>
    bool look_at(Id id) {
        if (!pass()) return false;
        if (!x_ids.empty() && !x_ids.contains(id.value)) return true;
        const auto row = Table::find(x_state, id);
        const auto holds = [&](const condition& one) { return one.holds(*row); };
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

/// A look-up by name needs no search.
std::optional<std::string> name_asked_for(const std::vector<condition>& conditions) {
    for (const condition& one : conditions)
        if (auto name = one.exact_name()) return name;
    return std::nullopt;
}

/// The children that an index lists: the one with that name, or all. False once too many were looked at.
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
    const auto conditions = conditions_on_models(request);
    if (!conditions) return conditions.error();
    const auto workspaces = readable_workspaces(state, user, request.workspace_name);
    if (!workspaces) return workspaces.error();
    gatherer<tables::models> rows(state, request, *conditions);
    const auto name = name_asked_for(*conditions);
    for (const schemas::workspace& workspace : *workspaces)
        if (!gather(state, workspace.id, name, rows)) break;
    return rows.page();
}

result<found_page<model_version>> find_versions(const state_view& state, schemas::user_id user,
                                                const schemas::find_request& request) {
    const auto conditions = conditions_on_versions(request);
    if (!conditions) return conditions.error();
    gatherer<tables::versions> rows(state, request, *conditions);
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
