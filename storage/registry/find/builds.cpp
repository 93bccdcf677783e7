#include "storage/registry/find/builds.hpp"

#include <algorithm>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/scans.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;

class build_search final : public passing_search<tables::builds> {
  public:
    build_search(const state_view& state, schemas::user_id user, schemas::version_id version,
                 page_of_rows page)
        : passing_search(state, std::move(page)), x_user(user), x_version(version) {}

  private:
    /// The index is ordered by workspace: whole ones are skipped.
    bool look_on(pace& pace) override {
        while (const auto workspace = tables::builds::next_workspace(state(), x_version, x_workspace)) {
            if (*workspace != x_workspace) x_next = {};
            x_workspace = *workspace;
            if (access::may_read_builds(state(), x_user, access::workspace_of(state(), *workspace)) &&
                !look_at_workspace(pace))
                return false;
            x_workspace.value = workspace->value + 1;
            x_next = {};
            if (!pace.pass()) return false;
        }
        return true;
    }
    bool look_at_workspace(pace& pace) {
        bool goes_on = true;
        tables::builds::each_of(state(), x_version, x_workspace, x_next, [&](schemas::build_id id) {
            x_next.value = id.value + 1;
            add(id.value);
            return goes_on = pace.pass();
        });
        return goes_on;
    }

    const schemas::user_id x_user;
    const schemas::version_id x_version;
    schemas::workspace_id x_workspace;  // where it is,
    schemas::build_id x_next;           // and the next build there
};

class workspace_build_search final : public passing_search<tables::builds> {
  public:
    workspace_build_search(const state_view& state, schemas::workspace_id workspace, wanted_builds wanted,
                           page_of_rows page)
        : passing_search(state, std::move(page)), x_workspace(workspace), x_wanted(wanted) {}

  private:
    bool look_on(pace& pace) override {
        bool goes_on = true;
        tables::lists::each(state(), tables::row_list::builds_of(x_workspace),
                            tables::list_order::newest_first, x_before, [&](const tables::listed& entry) {
                                x_before = entry;
                                if (is_wanted(schemas::build_id{entry.id})) add(entry.id);
                                return goes_on = pace.pass();
                            });
        return goes_on;
    }
    bool is_wanted(schemas::build_id id) const {
        if (!x_wanted.status && !x_wanted.scan_status && !x_wanted.safety_status) return true;
        const auto row = tables::builds::find(state(), id);
        if (!row) return false;
        const auto safety = row->unsafe_scan_id ? schemas::safety_status::unsafe : row->safety_status;
        return row->status == x_wanted.status.value_or(row->status) &&
               row->scan_status == x_wanted.scan_status.value_or(row->scan_status) &&
               safety == x_wanted.safety_status.value_or(safety);
    }

    const schemas::workspace_id x_workspace;
    const wanted_builds x_wanted;
    std::optional<tables::listed> x_before;  // the last one that was looked at
};

}  // namespace

std::optional<schemas::build> build_of(const state_view& state, schemas::build_id id) {
    return tables::builds::find(state, id);
}

std::vector<schemas::build> unfinished_builds(const state_view& state, std::size_t most) {
    std::vector<schemas::build> out;
    tables::builds::each_unfinished(state, [&](schemas::build_id id) {
        if (auto build = tables::builds::find(state, id)) out.push_back(*std::move(build));
        return out.size() < most;
    });
    return out;
}

std::optional<schemas::scan> newest_scan(const state_view& state, const schemas::build& build) {
    if (!build.scan_id) return std::nullopt;
    return tables::scans::find(state, build.scan_id);
}

schemas::scan scan_to_show(const state_view& state, const schemas::build& build) {
    if (auto newest = newest_scan(state, build)) return *std::move(newest);
    schemas::scan none;
    none.build_id = build.id;
    none.time_created = build.time_created;
    none.time_updated = build.time_updated;
    return none;
}

std::vector<schemas::scan> scans_before(const state_view& state, schemas::build_id build,
                                        schemas::scan_id newest, std::size_t scans_max) {
    std::vector<schemas::scan> scans;
    tables::scans::each_back_of(state, build, newest, [&](schemas::scan_id id) {
        if (auto old = tables::scans::find(state, id)) scans.push_back(*std::move(old));
        return scans.size() < scans_max;
    });
    std::reverse(scans.begin(), scans.end());
    return scans;
}

result<search_pointer<schemas::build>> search_builds(const state_view& state, schemas::user_id user,
                                                     schemas::version_id version,
                                                     const schemas::pagination& pagination) {
    const auto readable = access::readable_version(state, user, version);
    if (!readable) return readable.error();
    return begun<build_search>(page_by_age(pagination, question("builds", version), false), state, user,
                               version);
}

result<search_pointer<schemas::build>> search_builds_of_workspace(const state_view& state,
                                                                  schemas::user_id user,
                                                                  const std::string& workspace_name_or_id,
                                                                  const wanted_builds& wanted,
                                                                  const schemas::pagination& pagination) {
    const auto workspace = access::workspace_in_path(state, workspace_name_or_id);
    if (!workspace) return workspace.error();
    if (!access::may_read_builds(state, user, *workspace))
        return runtime::not_found({"workspace \"", workspace_name_or_id, "\" not found"});
    return begun<workspace_build_search>(
        page_by_age(pagination,
                    question("builds of a workspace", workspace->id, wanted.status, wanted.scan_status,
                             wanted.safety_status),
                    false),
        state, workspace->id, wanted);
}

bool has_safe_build(const state_view& state, const schemas::model_version& version) {
    bool has = false;
    tables::builds::each_of(state, version.id, version.workspace_id, {}, [&](schemas::build_id id) {
        const auto build = tables::builds::find(state, id);
        const auto scan = build ? newest_scan(state, *build) : std::nullopt;
        has = scan && build->status == schemas::build_status::finished && !build->unsafe_scan_id &&
              build->time_created >= version.time_image_changed &&
              scan->scan_status == schemas::scan_status::scanned &&
              scan->safety_status == schemas::safety_status::safe;
        return !has;
    });
    return has;
}

}  // namespace herald::storage::registry::find
