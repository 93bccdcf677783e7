#include "storage/registry/find/scan_status.hpp"

#include <algorithm>

#include "storage/registry/access/access.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;
using tables::find_row;
using tables::key_of;
using tables::number_in_key;
using tables::table;

void add_builds(const state_view& state, schemas::version_id version, schemas::workspace_id workspace,
                std::vector<schemas::build>& out) {
    state.scan(key_of(table::build_of_version).number(version).number(workspace), {},
               [&](std::string_view key, std::string_view) {
                   const auto build =
                       find_row<schemas::build>(state, key_of(table::build).number(number_in_key(key, 16)));
                   if (build) out.push_back(*build);
                   return true;
               });
}

/// The first workspace with builds of the version from this key on.
std::optional<schemas::workspace_id> next_workspace(const state_view& state, schemas::version_id version,
                                                    std::string_view from) {
    std::optional<schemas::workspace_id> next;
    state.scan(key_of(table::build_of_version).number(version), from,
               [&](std::string_view key, std::string_view) {
                   next.emplace(number_in_key(key, 8));
                   return false;
               });
    return next;
}

}  // namespace

std::optional<schemas::scan> newest_scan(const state_view& state, const schemas::build& build) {
    if (!build.scan_id) return std::nullopt;
    return find_row<schemas::scan>(state, key_of(table::scan).number(build.scan_id));
}

std::vector<schemas::build> readable_builds(const state_view& state, schemas::user_id user,
                                            schemas::version_id version) {
    std::vector<schemas::build> builds;
    std::string from;  // the index goes by workspace: whole ones are passed over
    while (const auto workspace = next_workspace(state, version, from)) {
        if (access::may_read_builds(state, user, *access::find_workspace(state, *workspace)))
            add_builds(state, version, *workspace, builds);
        from = key_of(table::build_of_version).number(version).number(workspace->value + 1);
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
