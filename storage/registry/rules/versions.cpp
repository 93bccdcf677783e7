// Model versions: creating, locking and deleting them (wire.md §3); updates: version_updates.cpp.
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/access/locks.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/removal.hpp"
#include "storage/registry/rules/stage_components.hpp"
#include "storage/registry/rules/unchanged.hpp"
#include "storage/registry/rules/version_content.hpp"
#include "storage/registry/rules/version_updates.hpp"
#include "storage/registry/tables/models.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::readable_model;
using access::require;
using context::rule_context;
using schemas::action;
using schemas::model_version;
using schemas::protected_type;
using schemas::registered_model;
using state::state_changes;

result<access::placed<schemas::registered_model>> model_of(const rule_context& context,
                                                           const schemas::commands::create_version& command) {
    if (command.registered_model_id)
        return readable_model(context.state, context.principal(), command.registered_model_id);
    return readable_model(context.state, context.principal(), command.workspace_name, command.model_name);
}

/// How strict a level is: OPEN < REDACT < CLOSED, which is not the order of the numbers.
int strictness_of(schemas::lock_level level) {
    switch (level) {
        case schemas::lock_level::redact:
            return 1;
        case schemas::lock_level::closed:
            return 2;
        default:
            return 0;
    }
}

}  // namespace

/// Errors: not_found for the model or an experiment run; permission_denied; invalid_argument; already_exists.
answer apply(rule_context& context, const schemas::commands::create_version& command) {
    state_changes& state = context.state;
    const auto parent = model_of(context, command);
    if (!parent) return parent.error();
    if (!command.experiment_run_id.empty())  // Herald keeps none
        return runtime::not_found({"experiment run ", command.experiment_run_id, " not found"});
    if (const auto may = require(state, context.principal(), parent->workspace,
                                 protected_type::registered_model, action::create, "registered model");
        !may)
        return may.error();
    if (const auto good = check_parts(command.version); !good) return good.error();
    if (const auto good = check_words(command.version); !good) return good.error();
    model_version version = without_empty_parts(with_content({}, command.version));
    version.registered_model_id = parent->row.id;
    version.lock_level = command.lock_level;
    if (const auto good = check_texts(version); !good) return good.error();
    keep_uploads(version, {});
    if (const auto good = check_artifact_keys({}, version); !good) return good.error();
    if (!has_free_name(state, version)) return name_taken(version);

    version.id = context.next_id<schemas::version_id>("version");
    version.workspace_id = parent->workspace.id;
    registered_model counted = parent->row;
    version.version_number = ++counted.versions_made;
    version.owner = context.principal();
    version.labels = sorted_labels(std::move(version.labels));
    if (version.lock_level == schemas::lock_level::unknown) version.lock_level = schemas::lock_level::open;
    version.time_created = version.time_updated = context.stamp_ms();
    std::string encoded = schemas::encode(version);
    if (const auto good = check_entity_size("the model version", version, encoded); !good)
        return good.error();

    tables::models::update(state, parent->row, counted);
    tables::versions::put(state, version, encoded);
    emission::emit_created(context, schemas::resource_type::registered_model_version, version.id.value,
                           version.workspace_id, version);
    return encoded;
}

/// Errors: not_found; permission_denied, also to a looser level unless the sender is a workspace admin;
/// invalid_argument without a level.
answer apply(rule_context& context, const schemas::commands::lock_version& command) {
    const auto found = access::readable_version(context.state, context.principal(), command.id);
    if (!found) return found.error();
    const model_version& before = found->row;
    if (const auto may = require(context.state, context.principal(), found->workspace,
                                 protected_type::registered_model, action::update, "model version");
        !may)
        return may.error();
    if (strictness_of(command.lock_level) < strictness_of(before.lock_level) &&
        !access::is_workspace_admin(context.state, context.principal(), found->workspace))
        return runtime::permission_denied({"model version ", before.id.value, " is ",
                                           name_of(before.lock_level),
                                           ": only a workspace admin may make its lock looser"});
    if (command.lock_level == schemas::lock_level::unknown)
        return runtime::invalid_argument("lock_level is UNKNOWN; it must be one of OPEN CLOSED REDACT");
    model_version after = before;
    after.lock_level = command.lock_level;
    return store_version(context, before, std::move(after));
}

/// Errors: not_found; permission_denied (also by lock); failed_precondition for a path that matches two
/// versions, and for a version that is deployed.
answer apply(rule_context& context, const schemas::commands::delete_version& command) {
    const auto found = version_of(context, command);
    if (!found) return found.error();
    if (const auto open =
            access::require_unlocked(context.state, context.principal(), *found, access::touched::whole);
        !open)
        return open.error();
    if (const auto meant = check_is_meant(context, command, found->row); !meant) return meant.error();
    if (const auto free = check_is_not_deployed(context.state, found->row); !free) return free.error();
    remove_version(context, found->row);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::version_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
