// Registered models (wire.md §3).
#include "storage/registry/tables/models.hpp"

#include "schemas/json_codec.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/merging.hpp"
#include "storage/registry/rules/removal.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/stage_components.hpp"
#include "storage/registry/rules/unchanged.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::model_content;
using schemas::registered_model;
using schemas::resource_visibility;
using schemas::commands::update_mode;

/// What a model holds, or will. A client's lists are also checked by themselves, before they are merged.
result<void> check_content(const model_content& model) {
    if (const auto good = check_name("name", model.name, limits::name_bytes_max); !good) return good;
    if (const auto good = check_text("description", model.description, limits::description_bytes_max); !good)
        return good;
    if (const auto good = check_text("readme_text", model.readme_text, limits::entity_bytes_max); !good)
        return good;
    if (const auto good = check_labels(model.labels); !good) return good;
    return check_attributes(model.attributes);
}

error name_taken(const registered_model& model, const schemas::workspace& workspace) {
    return runtime::already_exists({"a registered model named \"", model.name,
                                    "\" already exists in the workspace \"", workspace.name, "\""});
}

resource_visibility known(resource_visibility sent) {
    return sent == resource_visibility::unknown ? resource_visibility::workspace_default : sent;
}

/// As it is stored.
registered_model in_order(registered_model row) {
    row.labels = sorted_labels(std::move(row.labels));
    row.resource_visibility = known(row.resource_visibility);
    return row;
}

/// The row with its content replaced by what was sent.
registered_model with_content(registered_model row, const model_content& sent) {
    static_cast<model_content&>(row) = sent;
    row.attributes = merged_attributes({}, sent.attributes);
    return in_order(std::move(row));
}

/// PATCH, and PATCH …/full_body.
registered_model merged(registered_model row, const schemas::commands::update_model& command) {
    merge_content<model_content>(row, command.model, command.present, command.mode);
    return in_order(std::move(row));
}

/// PUT. A body without a name keeps the old one.
registered_model replaced(const registered_model& before, const model_content& sent) {
    registered_model after = with_content(before, sent);
    if (after.name.empty()) after.name = before.name;
    return after;
}

/// Of a command that names a model as update_model does.
template <class Command>
result<access::placed<registered_model>> model_of(const rule_context& context, const Command& command) {
    if (command.id) return access::readable_model(context.state, context.principal(), command.id);
    return access::readable_model(context.state, context.principal(), command.workspace_name,
                                  command.model_name);
}

}  // namespace

/// Errors: not_found for the workspace; permission_denied; invalid_argument; already_exists for the name.
answer apply(context::rule_context& context, const schemas::commands::create_model& command) {
    state::state_changes& state = context.state;
    const auto workspace = access::workspace_named(state, command.workspace_name);
    if (!workspace) return workspace.error();
    if (const auto may =
            access::require_in(state, context.principal(), *workspace, protected_type::registered_model,
                               action::create, "workspace \"" + command.workspace_name + "\"");
        !may)
        return may.error();
    const model_content& sent = command.model;
    if (const auto good = check_content(sent); !good) return good.error();
    registered_model model = with_content({}, sent);
    if (tables::models::named(state, workspace->id, sent.name)) return name_taken(model, *workspace);
    model.id = context.next_id<schemas::model_id>("model");
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

/// Errors: not_found; permission_denied; invalid_argument; already_exists for a new name.
answer apply(rule_context& context, const schemas::commands::update_model& command) {
    const auto found = model_of(context, command);
    if (!found) return found.error();
    const registered_model& before = found->row;
    if (const auto may =
            access::require(context.state, context.principal(), found->workspace,
                            protected_type::registered_model, action::update, "registered model");
        !may)
        return may.error();
    if (const auto good = check_labels(command.model.labels); !good) return good.error();
    if (const auto good = check_attributes(command.model.attributes); !good) return good.error();
    registered_model after =
        command.mode == update_mode::replace ? replaced(before, command.model) : merged(before, command);
    keep_what_is_unchanged(after, before);
    if (const auto good = check_content(after); !good) return good.error();
    std::string encoded = schemas::encode(after);
    if (encoded == schemas::encode(before)) return encoded;
    if (after.name != before.name && tables::models::named(context.state, found->workspace.id, after.name))
        return name_taken(after, found->workspace);
    after.time_updated = context.stamp_ms();
    encoded = schemas::encode(after);
    if (const auto good = check_entity_size("the registered model", after, encoded); !good)
        return good.error();
    tables::models::update(context.state, before, after);
    emission::emit_updated(context, schemas::resource_type::registered_model, after.id.value,
                           after.workspace_id, before, after);
    return encoded;
}

/// Locked versions do not hold it up, deployed ones do. Errors: not_found; permission_denied;
/// failed_precondition.
answer apply(rule_context& context, const schemas::commands::delete_model& command) {
    const auto found = model_of(context, command);
    if (!found) return found.error();
    if (const auto may =
            access::require(context.state, context.principal(), found->workspace,
                            protected_type::registered_model, action::delete_, "registered model");
        !may)
        return may.error();
    if (const auto free = check_is_not_deployed(context.state, found->row); !free) return free.error();
    remove_model(context, found->row);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::model_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
