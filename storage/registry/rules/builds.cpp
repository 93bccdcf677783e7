// Builds: images of a model version that can be scanned and deployed (wire.md §4).
#include "storage/registry/tables/builds.hpp"
#include "runtime/limits.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/building.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::action;
using schemas::protected_type;

bool has_room_for_build(const state::state_view& state, schemas::version_id version,
                        schemas::workspace_id workspace) {
    std::size_t count = 0;
    tables::builds::each_of(state, version, workspace, {},
                            [&](schemas::build_id) { return ++count < limits::builds_per_version_max; });
    return count < limits::builds_per_version_max;
}

result<void> check_request(const schemas::commands::create_build& command) {
    if (!command.external_location.empty())
        if (const auto good =
                check_name("external_location", command.external_location, limits::url_bytes_max);
            !good)
            return good;
    if (!command.upstream_url.empty())
        if (const auto good = check_url("upstream_url", command.upstream_url); !good) return good;
    return check_text("the request", command.creator_request.text, limits::creator_request_bytes_max);
}

}  // namespace

result<schemas::build> add_build(context::rule_context& context, const schemas::workspace& workspace,
                                 const schemas::model_version& version,
                                 const schemas::commands::create_build& asked) {
    if (const auto good = check_request(asked); !good) return good.error();
    if (!has_room_for_build(context.state, version.id, workspace.id))
        return runtime::failed_precondition("model version " + std::to_string(version.id.value) + " has " +
                                            std::to_string(limits::builds_per_version_max) +
                                            " builds in the workspace \"" + workspace.name +
                                            "\", the most there may be; create a new version");
    schemas::build build;
    build.id = context.next_id<schemas::build_id>("build");
    build.workspace_id = workspace.id;
    build.model_version_id = version.id;
    build.location = asked.external_location;
    build.upstream_url = asked.upstream_url;
    build.requires_root = asked.requires_root;
    build.scan_external = asked.scan_external;
    build.self_contained = asked.self_contained;
    build.uses_flask = asked.uses_flask;
    build.creator_request = asked.creator_request;
    build.time_created = build.time_updated = context.stamp_ms();
    build.status = schemas::build_status::finished;
    if (build.location.empty()) {
        build.status = schemas::build_status::error;
        build.message = "model version " + std::to_string(version.id.value) +
                        " has no model that Herald can build an image from; make the image elsewhere and "
                        "give external_location";
    }
    if (const auto good = check_entity_size("the build", build, schemas::encode(build)); !good)
        return good.error();
    tables::builds::put(context.state, build);
    emission::emit_created(context, schemas::resource_type::build, build.id.value, workspace.id, build);
    return build;
}

/// Errors: not_found for the workspace or the version; permission_denied; those of add_build.
answer apply(context::rule_context& context, const schemas::commands::create_build& command) {
    const state::state_changes& state = context.state;
    const auto workspace = access::workspace_named(state, command.workspace_name);
    if (!workspace) return workspace.error();
    if (const auto may = access::require(state, context.principal(), *workspace, protected_type::endpoint,
                                         action::deploy, "workspace \"" + command.workspace_name + "\"");
        !may)
        return may.error();
    const auto version = access::readable_version(state, context.principal(), command.model_version_id);
    if (!version) return runtime::not_found("Couldn't find modelVersion");
    const auto build = add_build(context, *workspace, version->row, command);
    if (!build) return build.error();
    return schemas::encode(*build);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::build_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
