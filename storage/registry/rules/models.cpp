// Registered models (wire.md §3).
#include "storage/registry/tables/models.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::action;
using schemas::protected_type;

result<void> check_content(const schemas::commands::model_content& model) {
    if (const auto good = check_name("name", model.name, limits::name_bytes_max); !good) return good;
    if (const auto good = check_text("description", model.description, limits::description_bytes_max); !good)
        return good;
    if (const auto good = check_text("readme_text", model.readme_text, limits::entity_bytes_max); !good)
        return good;
    if (const auto good = check_object("custom_permission", model.custom_permission); !good) return good;
    if (const auto good = check_labels(model.labels); !good) return good;
    return check_attributes(model.attributes);
}

}  // namespace

/// Errors: not_found for the workspace; permission_denied; invalid_argument; already_exists for the name.
answer apply(context::rule_context& context, const schemas::commands::create_model& command) {
    state::state_changes& state = context.state;
    const auto workspace = access::workspace_named(state, command.workspace_name);
    if (!workspace) return workspace.error();
    if (const auto may =
            access::require(state, context.principal(), *workspace, protected_type::registered_model,
                            action::create, "workspace \"" + command.workspace_name + "\"");
        !may)
        return may.error();
    const schemas::commands::model_content& sent = command.model;
    if (const auto good = check_content(sent); !good) return good.error();
    if (tables::models::named(state, workspace->id, sent.name))
        return runtime::already_exists("a registered model named \"" + sent.name +
                                       "\" already exists in the workspace \"" + workspace->name + "\"");
    schemas::registered_model model;
    model.id = context.next_id<schemas::model_id>("model");
    model.name = sent.name;
    model.description = sent.description;
    model.labels = sorted_labels(sent.labels);
    model.attributes = merged_attributes({}, sent.attributes);
    model.readme_text = sent.readme_text;
    model.visibility = sent.visibility;
    using schemas::resource_visibility;
    model.resource_visibility = sent.resource_visibility == resource_visibility::unknown
                                    ? resource_visibility::workspace_default
                                    : sent.resource_visibility;
    model.custom_permission = sent.custom_permission;
    model.data_type = sent.data_type;
    model.task_type = sent.task_type;
    model.pii = sent.pii;
    model.workspace_id = workspace->id;
    model.owner = context.principal();
    model.time_created = model.time_updated = context.stamp_ms();
    std::string encoded = schemas::encode(model);
    if (const auto good = check_entity_size("the registered model", model, encoded); !good)
        return good.error();
    tables::models::put(state, model, encoded);
    emission::emit_created(context, schemas::resource_type::registered_model, model.id.value, workspace->id,
                           model);
    return encoded;
}

runner runner_of(schemas::commands::command_type type, schemas::commands::model_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
