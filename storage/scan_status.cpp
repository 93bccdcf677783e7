#include "storage/scan_status.hpp"

#include <algorithm>

#include "runtime/limits.hpp"

namespace herald::storage {

std::optional<schemas::scan> newest_scan(const state_view& state, const schemas::build& build) {
    if (!build.scan_id) return std::nullopt;
    return find_row<schemas::scan>(state, key_of(table::scan).number(build.scan_id));
}

std::vector<schemas::build> builds_of(const state_view& state, schemas::version_id version) {
    std::vector<schemas::build> builds;
    state.scan(key_of(table::build_of_version).number(version), {},
               [&](std::string_view key, std::string_view) {
                   const auto build =
                       find_row<schemas::build>(state, key_of(table::build).number(number_in_key(key, 8)));
                   if (build) builds.push_back(*build);
                   return builds.size() < limits::builds_per_version_max;
               });
    return builds;
}

bool has_safe_build(const state_view& state, const schemas::model_version& version) {
    const std::vector<schemas::build> builds = builds_of(state, version.id);
    return std::any_of(builds.begin(), builds.end(), [&](const schemas::build& build) {
        const auto scan = newest_scan(state, build);
        return build.workspace_id == version.workspace_id &&
               build.status == schemas::build_status::finished && scan &&
               scan->scan_status == schemas::scan_status::scanned &&
               scan->safety_status == schemas::safety_status::safe;
    });
}

}  // namespace herald::storage
