#include "storage/registry/rules/stage_components.hpp"

#include <algorithm>

#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::endpoint_stage;
using schemas::stage_component;
using tables::deployed_builds;

/// Whether the component's build and version must stay: not those of one that failed and gets no traffic.
bool holds(const stage_component& one) {
    return one.status != schemas::component_status::error || one.ratio_ppm > 0;
}

bool holds(const endpoint_stage& stage, schemas::build_id build) {
    return std::ranges::any_of(
        stage.components, [&](const stage_component& each) { return each.build_id == build && holds(each); });
}

enum class deployed_as : std::uint8_t { component, nothing };

void mark(context::rule_context& context, const endpoint_stage& stage, schemas::build_id id,
          deployed_as how) {
    // A deployed build and its version are held, so they are there.
    const auto build = tables::builds::find(context.state, id);
    const auto version =
        build ? tables::versions::find(context.state, build->model_version_id) : std::nullopt;
    if (!version) throw state::state_corrupt{"a component without a build or a version"};
    if (how == deployed_as::component)
        deployed_builds::put(context.state, *build, version->registered_model_id, stage.id);
    else
        deployed_builds::erase(context.state, *build, version->registered_model_id, stage.id);
}

result<void> held_by(const state::state_view& state, std::optional<schemas::endpoint_stage_id> stage_id,
                     const std::string& what) {
    if (!stage_id) return {};
    const auto stage = tables::endpoint_stages::find(state, *stage_id);
    const auto endpoint = stage ? tables::endpoints::find(state, stage->endpoint_id) : std::nullopt;
    if (!endpoint) throw state::state_corrupt{"a deployed build without its endpoint"};
    return runtime::failed_precondition({what, " has a build that is a component of the endpoint ",
                                         endpoint->path, "; update or delete that endpoint first"});
}

}  // namespace

void store_stage(context::rule_context& context, const endpoint_stage& before, endpoint_stage after) {
    for (const stage_component& each : before.components)
        if (holds(each) && !holds(after, each.build_id))
            mark(context, after, each.build_id, deployed_as::nothing);
    for (const stage_component& each : after.components)
        if (holds(each) && !holds(before, each.build_id))
            mark(context, after, each.build_id, deployed_as::component);
    after.time_updated = context.stamp_ms();
    tables::endpoint_stages::update(context.state, before, after);
}

void forget_components(context::rule_context& context, const endpoint_stage& stage) {
    for (const stage_component& each : stage.components)
        if (holds(each)) mark(context, stage, each.build_id, deployed_as::nothing);
}

result<void> check_is_not_deployed(const state::state_view& state, const schemas::model_version& version) {
    return held_by(state, deployed_builds::stage_with(state, version.registered_model_id, version.id),
                   "model version " + std::to_string(version.id.value));
}

result<void> check_is_not_deployed(const state::state_view& state, const schemas::registered_model& model) {
    return held_by(state, deployed_builds::stage_with(state, model.id),
                   "registered model " + std::to_string(model.id.value));
}

result<void> check_is_not_deployed(const state::state_view& state, const schemas::workspace& workspace) {
    return held_by(state, deployed_builds::stage_with(state, workspace.id),
                   "the workspace \"" + workspace.name + "\"");
}

}  // namespace herald::storage::registry::rules
