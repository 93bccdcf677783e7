// Builds: images of a model version that can be scanned and deployed (wire.md §4).
#include "storage/registry/tables/builds.hpp"

#include <algorithm>

#include "runtime/limits.hpp"
#include "schemas/limits.hpp"
#include "schemas/runtimes.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/artifacts.hpp"
#include "storage/registry/rules/building.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/nodes.hpp"

namespace herald::storage::registry::rules {
namespace {

bool has_room_for_build(const state::state_view& state, schemas::version_id version,
                        schemas::workspace_id workspace) {
    std::size_t count = 0;
    tables::builds::each_of(state, version, workspace, {},
                            [&](schemas::build_id) { return ++count < limits::builds_per_version_max; });
    return count < limits::builds_per_version_max;
}

/// A URL that check_url has passed, for requests that Herald sends. Errors: invalid_argument.
result<void> check_upstream(std::string_view url) {
    const std::string_view authority = authority_of(url);
    std::string_view wrong;
    if (authority.find('@') != authority.npos)
        wrong = "a user or password, which it must not hold";
    else if (url.find('#') != url.npos)
        wrong = "a fragment (#), which is never sent";
    else if (std::any_of(authority.begin(), authority.end(), [](char c) { return c <= ' ' || c > '~'; }))
        wrong = "a host that is not ASCII; write it in its ASCII form, xn--";
    if (wrong.empty()) return {};
    // The URL is not repeated: it may hold a password.
    return runtime::invalid_argument({"upstream_url holds ", wrong});
}

/// The model's bytes; empty when there are none.
std::vector<schemas::blob_part> model_bytes_of(const state::state_view& state,
                                               const schemas::model_version& version) {
    if (!version.model || !version.model->upload_completed) return {};
    const auto bytes = tables::bytes_of_artifacts::find(state, version.id, version.model->key);
    return bytes ? bytes->parts : std::vector<schemas::blob_part>{};
}

bool has_builder(const state::state_view& state) {
    bool found = false;
    tables::nodes::each(state, [&](const schemas::node_row& node) {
        found = node.boot != schemas::uuid{} &&
                std::ranges::find(node.runtimes, schemas::runtimes::onnx) != node.runtimes.end();
        return !found;
    });
    return found;
}

/// Herald is to make it of the model, or says why it cannot.
void begin_making(context::rule_context& context, const schemas::model_version& version,
                  schemas::build& build) {
    std::vector<schemas::blob_part> parts = model_bytes_of(context.state, version);
    build.status = schemas::build_status::error;
    const std::string version_text = "model version " + std::to_string(version.id.value);
    if (version.model && parts.empty()) {
        build.message = "the bytes of the model of " + version_text +
                        " are not uploaded yet: upload them, then create another build";
    } else if (parts.empty()) {
        build.message = version_text +
                        " has no model that Herald can build an image from; make the image elsewhere and "
                        "give external_location";
    } else if (parts.size() > limits::build_parts_max) {
        build.message = "the model of " + version_text + " was uploaded in " + std::to_string(parts.size()) +
                        " parts; upload it in at most " + std::to_string(limits::build_parts_max);
    } else if (!has_builder(context.state)) {
        build.message = "no node of this installation has the runtime " +
                        std::string(schemas::runtimes::onnx) +
                        ", which checks models; make the image elsewhere and give external_location";
    } else {
        build.status = schemas::build_status::building;
        build.base_url = context.command().request.base_url;
        hold_bytes(context, parts);
        build.model_parts = std::move(parts);
        context.set_timer(build.time_created + limits::build_ms_max, context::timer_kind::build_deadline,
                          schemas::big_endian(build.id.value));
    }
}

result<void> check_request(const schemas::commands::create_build& command) {
    if (!command.external_location.empty())
        if (const auto good =
                check_name("external_location", command.external_location, limits::url_bytes_max);
            !good)
            return good;
    if (!command.upstream_url.empty()) {
        if (const auto good = check_url("upstream_url", command.upstream_url); !good) return good;
        if (const auto good = check_upstream(command.upstream_url); !good) return good;
        if (const auto good = check_host("upstream_url", command.upstream_url); !good) return good;
    }
    return check_text("the request", command.creator_request.text, limits::creator_request_bytes_max);
}

/// Errors: not_found, also when the caller sees no builds there.
result<schemas::workspace> workspace_to_build_in(const context::rule_context& context,
                                                 const std::string& name) {
    const state::state_changes& state = context.state;
    auto meant = access::workspace_in_path(state, name);
    if (meant && access::may_read_builds(state, context.principal(), *meant)) return meant;
    const std::string what = "workspace \"" + name + "\"";
    if (meant)
        if (const auto may = access::require_in(state, context.principal(), *meant, protected_type::endpoint,
                                                action::read, what);
            !may)
            return may.error();
    return runtime::not_found({what, " not found"});
}

}  // namespace

result<void> require_building(const context::rule_context& context, const schemas::workspace& workspace) {
    return access::require_building(context.state, context.principal(), workspace);
}

bool can_be_built(const context::rule_context& context, const schemas::model_version& version) {
    return !model_bytes_of(context.state, version).empty() && has_builder(context.state);
}

result<schemas::build> add_build(context::rule_context& context, const schemas::workspace& workspace,
                                 const schemas::model_version& version,
                                 const schemas::commands::create_build& asked) {
    if (const auto good = check_request(asked); !good) return good.error();
    if (asked.external_location.empty() && !asked.upstream_url.empty())
        return runtime::invalid_argument(
            "upstream_url is given without external_location; that must name the image that runs there");
    if (!has_room_for_build(context.state, version.id, workspace.id))
        return runtime::failed_precondition({"model version ", version.id.value, " has ",
                                             limits::builds_per_version_max, " builds in the workspace \"",
                                             workspace.name,
                                             "\", the most there may be; create a new version"});
    schemas::build build;
    build.id = context.next_id<schemas::build_id>("build");
    build.workspace_id = workspace.id;
    build.created_by = context.principal();
    build.model_version_id = version.id;
    build.location = asked.external_location;
    static_cast<schemas::build_content&>(build) = asked;
    build.creator_request = asked.creator_request;
    build.time_created = build.time_updated = context.stamp_ms();
    build.status = schemas::build_status::finished;
    if (build.location.empty()) begin_making(context, version, build);
    build.runtime = schemas::runtimes::runtime_of(build);
    if (const auto good = check_entity_size("the build", build, schemas::encode(build)); !good)
        return good.error();
    tables::builds::put(context.state, build);
    emission::emit_created(context, schemas::resource_type::build, build.id.value, workspace.id, build);
    return build;
}

/// Errors: not_found for the workspace, the version or an experiment run; permission_denied; those of
/// add_build.
answer apply(context::rule_context& context, const schemas::commands::create_build& command) {
    const state::state_changes& state = context.state;
    const auto workspace = workspace_to_build_in(context, command.workspace_name);
    if (!workspace) return workspace.error();
    if (!command.run_id.empty())  // Herald keeps no experiment runs
        return runtime::not_found({"experiment run ", command.run_id, " not found"});
    const auto version = access::readable_version(state, context.principal(), command.model_version_id);
    if (!version) return runtime::not_found("Couldn't find modelVersion");
    if (const auto may = require_building(context, *workspace); !may) return may.error();
    const auto build = add_build(context, *workspace, version->row, command);
    if (!build) return build.error();
    return schemas::encode(*build);
}

/// Errors: not_found; permission_denied; invalid_argument.
answer apply(context::rule_context& context, const schemas::commands::set_build_message& command) {
    const auto found = access::readable_build(context.state, context.principal(), command.build_id);
    if (!found) return found.error();
    if (const auto may = require_building(context, found->workspace); !may) return may.error();
    if (const auto good = check_text("message", command.message, limits::comment_bytes_max); !good)
        return good.error();
    if (command.message == found->row.message) return schemas::encode(found->row);
    schemas::build after = found->row;
    after.message = command.message;
    after.time_updated = context.stamp_ms();
    if (const auto good = check_entity_size("the build", after, schemas::encode(after)); !good)
        return good.error();
    tables::builds::update(context.state, found->row, after);
    emission::emit_updated(context, schemas::resource_type::build, after.id.value, after.workspace_id,
                           found->row, after);
    return schemas::encode(after);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::build_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
