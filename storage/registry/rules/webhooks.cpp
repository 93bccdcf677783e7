// Webhooks: who is notified, where, and when they are disabled (wire.md §7, delivery.md §3-4).
#include <algorithm>
#include <set>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::require_system_admin;
using context::rule_context;
using context::timer_kind;
using schemas::resource_type;
using schemas::webhook;
using schemas::webhook_status;
using schemas::commands::webhook_condition;
using state::state_changes;

constexpr std::int64_t day_ms = 24ll * 3'600'000;

/// Key of the timer that disables a webhook; whether it is still wanted follows from its due time.
std::string disable_key(schemas::webhook_id id) {
    std::string text;
    schemas::append_big_endian(text, id.value);
    return text;
}

/// Disables it under a new revision, which the publisher forwards.
void disable(rule_context& context, const webhook& before, const std::string& reason) {
    webhook hook = before;
    hook.status = webhook_status::disabled;
    hook.status_reason = reason;
    hook.time_updated = context.stamp_ms();
    hook.revision = context.offset();
    tables::webhooks::update(context.state, before, hook);
}

void erase_webhook(rule_context& context, const webhook& hook) {
    const std::string change = tables::webhooks::erase_at(context.state, hook, context.offset());
    context.set_timer(context.time_ms() + limits::outbox_kept_ms, timer_kind::webhook_change_trim, change);
}

/// Whether events report resources of this type under the filter member of the same service.
bool is_of_registry(resource_type type) {
    return type == resource_type::registered_model || type == resource_type::registered_model_version ||
           type == resource_type::all;
}
bool is_of_deployment(resource_type type) {
    return type == resource_type::endpoint || type == resource_type::build || type == resource_type::all;
}

result<void> check_family(const schemas::resource_filter& filter) {
    const resource_type registry = filter.registry_service_resource_type;
    const resource_type deployment = filter.deployment_service_resource_type;
    if (registry != resource_type::none && !is_of_registry(registry))
        return runtime::invalid_argument("registry_service_resource_type is " +
                                         std::string(name_of(registry)) +
                                         "; it must be REGISTERED_MODEL, REGISTERED_MODEL_VERSION or ALL");
    if (deployment != resource_type::none && !is_of_deployment(deployment))
        return runtime::invalid_argument("deployment_service_resource_type is " +
                                         std::string(name_of(deployment)) +
                                         "; it must be ENDPOINT, BUILD or ALL");
    const resource_type modeldb = filter.modeldb_service_resource_type;
    if (modeldb != resource_type::none && modeldb != resource_type::all)
        return runtime::invalid_argument("modeldb_service_resource_type is " + std::string(name_of(modeldb)) +
                                         "; it must be ALL");
    return {};
}

result<void> check_filters(const std::vector<schemas::resource_filter>& filters) {
    if (filters.size() > limits::webhook_filters_max)
        return runtime::invalid_argument("resource_types holds more than " +
                                         std::to_string(limits::webhook_filters_max) + " objects");
    for (const schemas::resource_filter& filter : filters) {
        const int keys = (filter.registry_service_resource_type != resource_type::none ? 1 : 0) +
                         (filter.deployment_service_resource_type != resource_type::none ? 1 : 0) +
                         (filter.modeldb_service_resource_type != resource_type::none ? 1 : 0);
        if (keys != 1)
            return runtime::invalid_argument(
                "each object of resource_types must have exactly one of registry_service_resource_type, "
                "deployment_service_resource_type, modeldb_service_resource_type");
        if (const auto good = check_family(filter); !good) return good;
    }
    return {};
}

/// "PROMOTE tells of REGISTERED_MODEL_VERSION, …", for each event type.
std::string told_by_event_types() {
    std::string text, of_any;
    for (const auto& [type, name] : schemas::enum_names<schemas::event_type>::all) {
        const resource_type only = schemas::kind_of(type).resource;
        if (only == resource_type::none)
            of_any += (of_any.empty() ? "" : ", ") + std::string(name);
        else
            text += std::string(name) + " tells of " + std::string(name_of(only)) + ", ";
    }
    return text + of_any + " of any resource";
}

result<void> check_hears(const webhook& hook) {
    if (hook.settings.event_types.empty() && !hook.settings.all_events)
        return runtime::invalid_argument(
            "event_types is empty and all_events false: this webhook would never hear anything; give event "
            "types, or all_events true");
    if (hears_of(hook, resource_type::all)) return {};
    return runtime::invalid_argument(
        "resource_types lets none of the events of event_types through: this webhook would never hear "
        "anything; " +
        told_by_event_types());
}

/// Without id and workspace.
webhook described_by(const schemas::commands::create_webhook& command) {
    webhook hook;
    hook.settings = command.settings;
    hook.sealed_secret = command.sealed_secret;
    hook.seal_binding = command.seal_binding;
    std::vector<schemas::event_type>& types = hook.settings.event_types;
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    return hook;
}

std::size_t webhooks_in(const state::state_view& state, schemas::workspace_id workspace) {
    std::size_t count = 0;
    tables::webhooks::each_of(state, workspace, {}, [&](schemas::webhook_id) {
        return ++count < limits::webhooks_per_workspace_max;
    });
    return count;
}

}  // namespace

/// Errors: permission_denied; not_found for the workspace; invalid_argument; already_exists for the name;
/// resource_exhausted at 256 webhooks in the workspace. The location's form was checked on arrival.
answer apply(rule_context& context, const schemas::commands::create_webhook& command) {
    state_changes& state = context.state;
    if (const auto may = require_system_admin(state, context.principal(), "creating a webhook"); !may)
        return may.error();
    schemas::workspace_id workspace = command.workspace_id;
    if (!workspace) workspace = tables::users::find(state, context.principal())->default_workspace_id;
    if (!access::find_workspace(state, workspace))
        return runtime::not_found("workspace " + std::to_string(workspace.value) + " not found");
    if (const auto good = check_name("name", command.settings.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_url("location", command.settings.location); !good) return good.error();
    if (const auto good = check_filters(command.settings.resource_types); !good) return good.error();
    webhook hook = described_by(command);
    if (const auto good = check_hears(hook); !good) return good.error();
    if (tables::webhooks::named(state, workspace, command.settings.name))
        return runtime::already_exists("a webhook named \"" + command.settings.name +
                                       "\" already exists in workspace " + std::to_string(workspace.value));
    if (webhooks_in(state, workspace) >= limits::webhooks_per_workspace_max)
        return runtime::resource_exhausted("workspace " + std::to_string(workspace.value) + " has " +
                                           std::to_string(limits::webhooks_per_workspace_max) +
                                           " webhooks, the most there may be; delete one first");
    hook.id = context.next_id<schemas::webhook_id>("webhook");
    hook.workspace_id = workspace;
    hook.time_created = hook.time_updated = context.stamp_ms();
    hook.revision = context.offset();
    tables::webhooks::put(state, hook);
    return schemas::encode(hook);
}

/// Deletes all or none. Errors: permission_denied; not_found naming the id; invalid_argument for more than
/// 100 ids.
answer apply(rule_context& context, const schemas::commands::delete_webhooks& command) {
    if (const auto may = require_system_admin(context.state, context.principal(), "deleting a webhook"); !may)
        return may.error();
    if (command.ids.empty() || command.ids.size() > limits::webhooks_per_delete_max)
        return runtime::invalid_argument("ids holds " + std::to_string(command.ids.size()) +
                                         " webhooks; give 1 to " +
                                         std::to_string(limits::webhooks_per_delete_max));
    for (const schemas::webhook_id id : std::set(command.ids.begin(), command.ids.end())) {
        const auto hook = tables::webhooks::find(context.state, id);
        if (!hook) return runtime::not_found("webhook " + std::to_string(id.value) + " not found");
        erase_webhook(context, *hook);
    }
    return std::string();
}

/// Errors: aborted when the sender no longer holds the job. A webhook that is gone or has changed since is
/// left unchanged.
answer apply(rule_context& context, const schemas::commands::webhook_health& command) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::webhook_health));
    if (!claim || claim->token != command.token)
        return runtime::aborted("the job webhook-health has another holder");
    const auto before = tables::webhooks::find(context.state, command.webhook_id);
    if (!before || before->revision != command.revision || before->status == webhook_status::disabled)
        return std::string();
    webhook hook = *before;
    switch (command.condition) {
        case webhook_condition::healthy:
            hook.failing_since_ms = 0;
            tables::webhooks::update(context.state, *before, hook);
            break;
        case webhook_condition::failing:
            if (hook.failing_since_ms != 0) break;
            hook.failing_since_ms =
                std::max<std::int64_t>(1, std::min(command.failing_since_ms, context.time_ms()));
            tables::webhooks::update(context.state, *before, hook);
            context.set_timer(hook.failing_since_ms + limits::webhook_disable_after_ms,
                              timer_kind::webhook_disable, disable_key(hook.id));
            break;
        case webhook_condition::gone:
            disable(context, *before, command.reason);
            break;
    }
    return std::string();
}

void fire_webhook_disable(rule_context& context, std::string_view key) {
    const auto hook =
        tables::webhooks::find(context.state, schemas::webhook_id{schemas::read_big_endian(key)});
    if (!hook || hook->status == webhook_status::disabled || hook->failing_since_ms == 0) return;
    if (hook->failing_since_ms + limits::webhook_disable_after_ms > context.time_ms())
        return;  // it recovered and fails anew
    disable(
        context, *hook,
        "nothing but failures for " + std::to_string(limits::webhook_disable_after_ms / day_ms) + " days");
}

void fire_webhook_change_trim(rule_context& context, std::string_view key) {
    tables::webhooks::forget_erasure(context.state, key);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::webhook_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
