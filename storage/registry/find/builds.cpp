#include "storage/registry/find/builds.hpp"

#include <algorithm>

#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/scans.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;

void add_builds(const state_view& state, schemas::version_id version, schemas::workspace_id workspace,
                std::vector<schemas::build>& out) {
    tables::builds::each_of(state, version, workspace, {}, [&](schemas::build_id id) {
        if (const auto build = tables::builds::find(state, id)) out.push_back(*build);
        return true;
    });
}

}  // namespace

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

std::vector<schemas::scan> older_scans(const state_view& state, const schemas::build& build,
                                       std::size_t scans_max) {
    std::vector<schemas::scan> scans;
    tables::scans::each_of(state, build.id, {}, [&](schemas::scan_id id) {
        if (id == build.scan_id) return true;
        if (auto old = tables::scans::find(state, id)) scans.push_back(*std::move(old));
        return scans.size() < scans_max;
    });
    return scans;
}

std::vector<schemas::build> readable_builds(const state_view& state, schemas::user_id user,
                                            schemas::version_id version) {
    std::vector<schemas::build> builds;
    schemas::workspace_id from;  // the index is ordered by workspace: whole ones are skipped
    while (const auto workspace = tables::builds::next_workspace(state, version, from)) {
        if (access::may_read_builds(state, user, access::workspace_of(state, *workspace)))
            add_builds(state, version, *workspace, builds);
        from = schemas::workspace_id{workspace->value + 1};
    }
    std::sort(builds.begin(), builds.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return builds;
}

bool has_safe_build(const state_view& state, const schemas::model_version& version) {
    std::vector<schemas::build> builds;
    add_builds(state, version.id, version.workspace_id, builds);
    return std::any_of(builds.begin(), builds.end(), [&](const schemas::build& build) {
        const auto scan = newest_scan(state, build);
        return build.status == schemas::build_status::finished && !build.unsafe_scan_id && scan &&
               scan->scan_status == schemas::scan_status::scanned &&
               scan->safety_status == schemas::safety_status::safe;
    });
}

}  // namespace herald::storage::registry::find
