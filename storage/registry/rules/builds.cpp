// Builds: images of a model version that can be scanned and deployed (wire.md §4).
#include "storage/registry/tables/builds.hpp"
#include "runtime/limits.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
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

/// Errors: not_found for the workspace or the version; permission_denied; invalid_argument;
/// failed_precondition at limits::builds_per_version_max builds of the version in the workspace.
answer apply(context::rule_context& context, const schemas::commands::create_build& command) {
    state::state_changes& state = context.state;
    const auto workspace = access::workspace_named(state, command.workspace_name);
    if (!workspace) return workspace.error();
    if (const auto may = access::require(state, context.principal(), *workspace, protected_type::endpoint,
                                         action::deploy, "workspace \"" + command.workspace_name + "\"");
        !may)
        return may.error();
    const auto version = access::readable_version(state, context.principal(), command.model_version_id);
    if (!version) return runtime::not_found("Couldn't find modelVersion");
    if (const auto good = check_request(command); !good) return good.error();
    if (!has_room_for_build(state, version->row.id, workspace->id))
        return runtime::failed_precondition("model version " + std::to_string(version->row.id.value) +
                                            " has " + std::to_string(limits::builds_per_version_max) +
                                            " builds in the workspace \"" + workspace->name +
                                            "\", the most there may be; create a new version");

    schemas::build build;
    build.id = context.next_id<schemas::build_id>("build");
    build.workspace_id = workspace->id;
    build.model_version_id = version->row.id;
    build.location = command.external_location;
    build.upstream_url = command.upstream_url;
    build.requires_root = command.requires_root;
    build.scan_external = command.scan_external;
    build.self_contained = command.self_contained;
    build.uses_flask = command.uses_flask;
    build.creator_request = command.creator_request;
    build.time_created = build.time_updated = context.stamp_ms();
    build.status = schemas::build_status::finished;
    if (build.location.empty()) {
        build.status = schemas::build_status::error;
        build.message = "model version " + std::to_string(version->row.id.value) +
                        " has no model that Herald can build an image from; make the image elsewhere and "
                        "give external_location";
    }
    std::string encoded = schemas::encode(build);
    if (const auto good = check_entity_size("the build", build, encoded); !good) return good.error();
    tables::builds::put(state, build);
    emission::emit_created(context, schemas::resource_type::build, build.id.value, workspace->id, build);
    return encoded;
}

}  // namespace herald::storage::registry::rules
