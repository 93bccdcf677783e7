// Webhooks: who is notified and where; events that others report (wire.md §7).
#include <algorithm>
#include <set>

#include "schemas/event_kinds.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/audit/audit.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/webhook_health.hpp"
#include "storage/registry/rules/webhook_settings.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::require_system_admin;
using access::require_webhook_admin;
using schemas::resource_type;
using schemas::webhook;
using schemas::webhook_status;
using state::state_changes;

void erase_webhook(rule_context& context, const webhook& hook) {
    tables::outbox::forget(context.state, resource_type::none, std::to_string(hook.id.value));
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
        return runtime::invalid_argument({"registry_service_resource_type is ", name_of(registry),
                                          "; it must be REGISTERED_MODEL, REGISTERED_MODEL_VERSION or ALL"});
    if (deployment != resource_type::none && !is_of_deployment(deployment))
        return runtime::invalid_argument({"deployment_service_resource_type is ", name_of(deployment),
                                          "; it must be ENDPOINT, BUILD or ALL"});
    const resource_type modeldb = filter.modeldb_service_resource_type;
    if (modeldb != resource_type::none && modeldb != resource_type::all)
        return runtime::invalid_argument(
            {"modeldb_service_resource_type is ", name_of(modeldb), "; it must be ALL"});
    return {};
}

result<void> check_filters(const std::vector<schemas::resource_filter>& filters) {
    if (filters.size() > limits::webhook_filters_max)
        return runtime::invalid_argument(
            {"resource_types holds more than ", limits::webhook_filters_max, " objects"});
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
    for (const auto& [type, name] : schemas::enum_names<schemas::event_type>) {
        const resource_type only = schemas::kind_of(type).resource;
        if (schemas::kind_of(type).hearers == schemas::event_hearers::named)
            text += std::string(name) + " tells of webhooks, if resource_types is empty, ";
        else if (only == resource_type::none)
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
        {"resource_types lets none of the events of event_types through: this webhook would never hear "
         "anything; ",
         told_by_event_types()});
}

/// Without id and workspace.
webhook described_by(const schemas::commands::create_webhook& command) {
    webhook hook;
    hook.settings = command.settings;
    hook.sealed_secret = command.sealed_secret;
    hook.seal_binding = command.seal_binding;
    hook.headers = command.headers;
    std::vector<schemas::event_type>& types = hook.settings.event_types;
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    return hook;
}

/// Errors: permission_denied; not_found.
result<webhook> webhook_to_change(const rule_context& context, schemas::webhook_id id,
                                  std::string_view what) {
    auto found = access::webhook_to_change(context.state, context.principal(), id, what);
    if (!found) return found.error();
    return std::move(found->row);
}

/// Both would be said of one thing.
result<void> check_update(const schemas::commands::update_webhook& command) {
    if (command.set_all_events && command.clear_all_events)
        return runtime::invalid_argument("set_all_events and clear_all_events are both true; give one");
    for (const schemas::event_type type : command.add_event_types)
        if (std::ranges::count(command.delete_event_types, type) > 0)
            return runtime::invalid_argument(
                {name_of(type), " is in add_event_types and in delete_event_types; give it in one"});
    for (const schemas::resource_filter& filter : command.add_resource_types)
        if (std::ranges::count(command.delete_resource_types, filter) > 0)
            return runtime::invalid_argument(
                "the same object is in add_resource_types and in delete_resource_types; give it in one");
    return {};
}

template <class Item>
void add_and_delete(std::vector<Item>& list, const std::vector<Item>& more, const std::vector<Item>& less) {
    for (const Item& one : more)
        if (std::ranges::count(list, one) == 0) list.push_back(one);
    std::erase_if(list, [&](const Item& one) { return std::ranges::count(less, one) > 0; });
}

schemas::webhook_settings updated(schemas::webhook_settings settings,
                                  const schemas::commands::update_webhook& command) {
    if (!command.new_name.empty()) settings.name = command.new_name;
    if (!command.new_location.empty()) settings.location = command.new_location;
    if (command.set_all_events) settings.all_events = true;
    if (command.clear_all_events) settings.all_events = false;
    add_and_delete(settings.event_types, command.add_event_types, command.delete_event_types);
    std::ranges::sort(settings.event_types);
    add_and_delete(settings.resource_types, command.add_resource_types, command.delete_resource_types);
    set_given(settings.delivery, command);
    return settings;
}

result<void> check_free_name(const state::state_view& state, schemas::workspace_id workspace,
                             const std::string& name) {
    if (!tables::webhooks::named(state, workspace, name)) return {};
    return runtime::already_exists(
        {"a webhook named \"", name, "\" already exists in workspace ", workspace.value});
}

/// What may not be whatever the webhook was before.
result<void> check_settings(const webhook& hook, std::int64_t now_ms) {
    if (const auto good = check_filters(hook.settings.resource_types); !good) return good;
    if (const auto good = check_hears(hook); !good) return good;
    if (const auto good = check_delivery(hook.settings, now_ms); !good) return good;
    return check_headers(hook.headers);
}

/// Writes it under a new revision, which the publisher forwards.
std::string revise(rule_context& context, const webhook& before, webhook hook) {
    hook.time_updated = context.stamp_ms();
    hook.revision = context.offset();
    tables::webhooks::update(context.state, before, hook);
    return schemas::encode(hook);
}

result<void> check_external_event(const schemas::commands::create_event& command) {
    const std::string& uuid = command.event_uuid;
    if (uuid.empty() || uuid.size() > limits::event_uuid_bytes_max ||
        !std::ranges::all_of(uuid, [](char c) { return c > 0x20 && c < 0x7f; }))
        return runtime::invalid_argument({"event_uuid must be 1 to ", limits::event_uuid_bytes_max,
                                          " characters of visible ASCII, as a UUID is"});
    if (schemas::kind_of(command.event_type).teller == schemas::event_teller::herald)
        return runtime::invalid_argument(
            {name_of(command.event_type),
             " is told by Herald alone; event_type must be CREATE, READ, UPDATE or "
             "DELETE"});
    if (command.resource_type == resource_type::none || command.resource_type == resource_type::all)
        return runtime::invalid_argument(
            "resource_type must be REGISTERED_MODEL, REGISTERED_MODEL_VERSION, ENDPOINT or BUILD");
    if (command.timestamp < 0 || command.timestamp > limits::event_time_ms_max)
        return runtime::invalid_argument(
            {"timestamp is ", command.timestamp,
             "; it must be a time in milliseconds since the epoch, up to the year "
             "9999"});
    if (const auto good = check_text("resource_id", command.resource_id, limits::name_bytes_max); !good)
        return good;
    for (const auto& [name, entity] :
         {std::pair<std::string_view, const schemas::json_text&>{"original_entity", command.original_entity},
          {"new_entity", command.new_entity}})
        if (const auto good = check_object(name, entity); !good) return good;
    return {};
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
    if (const auto may = require_webhook_admin(context.state, context.principal(), "creating a webhook");
        !may)
        return may.error();
    schemas::workspace_id workspace = command.workspace_id;
    if (!workspace)
        workspace = access::default_workspace_of(state, *tables::users::find(state, context.principal()));
    const auto found = access::find_workspace(state, workspace);
    if (!found || !access::is_seen(context.state, context.principal(), *found))
        return runtime::not_found({"workspace ", workspace.value, " not found"});
    if (const auto may = require_webhook_admin(state, context.principal(), *found, "creating a webhook");
        !may)
        return may.error();
    if (const auto good = check_name("name", command.settings.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_url("location", command.settings.location); !good) return good.error();
    webhook hook = described_by(command);
    if (const auto good = check_settings(hook, context.time_ms()); !good) return good.error();
    if (const auto is_free = check_free_name(state, workspace, command.settings.name); !is_free)
        return is_free.error();
    if (webhooks_in(state, workspace) >= limits::webhooks_per_workspace_max)
        return runtime::resource_exhausted({"workspace ", workspace.value, " has ",
                                            limits::webhooks_per_workspace_max,
                                            " webhooks, the most there may be; delete one first"});
    hook.id = context.next_id<schemas::webhook_id>("webhook");
    hook.workspace_id = workspace;
    hook.time_created = hook.time_updated = context.stamp_ms();
    hook.revision = context.offset();
    tables::webhooks::put(state, hook);
    plan_to_expire(context, hook);
    return schemas::encode(hook);
}

/// Errors: permission_denied; not_found; invalid_argument; already_exists for the name. The location's form
/// was checked on arrival.
answer apply(rule_context& context, const schemas::commands::update_webhook& command) {
    const auto before = webhook_to_change(context, command.id, "changing a webhook");
    if (!before) return before.error();
    if (const auto good = check_update(command); !good) return good.error();
    if (!command.new_location.empty())
        if (const auto good = check_url("new_location", command.new_location); !good) return good.error();
    webhook hook = *before;
    hook.settings = updated(before->settings, command);
    if (hook.settings.location != before->settings.location) {
        forget_failures(hook);
        hook.failing_told = before->failing_told;  // others hear when the new place has taken something
    }
    hook.headers = with_changes(before->headers, command);
    if (const auto good = check_move(*before, hook); !good) return good.error();
    const schemas::webhook_settings& now = hook.settings;
    if (const auto good = check_name("new_name", now.name, limits::name_bytes_max); !good)
        return good.error();
    // A time that is over by now was to come when it was set.
    const bool is_new_time = now.delivery.time_expires != before->settings.delivery.time_expires;
    if (const auto good = check_settings(hook, is_new_time ? context.time_ms() : INT64_MIN); !good)
        return good.error();
    if (now.name != before->settings.name)
        if (const auto is_free = check_free_name(context.state, hook.workspace_id, now.name); !is_free)
            return is_free.error();
    if (!command.sealed_secret.empty()) {
        hook.sealed_secret = command.sealed_secret;
        hook.seal_binding = command.seal_binding;
        hook.earlier_secret = {};
    } else if (now == before->settings && hook.headers == before->headers) {
        return schemas::encode(*before);
    }
    if (is_new_time) plan_to_expire(context, hook);
    return revise(context, *before, std::move(hook));
}

/// Errors: permission_denied; not_found; invalid_argument.
answer apply(rule_context& context, const schemas::commands::rotate_webhook_secret& command) {
    const auto before = webhook_to_change(context, command.webhook_id, "rotating a secret");
    if (!before) return before.error();
    if (command.sealed_secret.empty()) return runtime::invalid_argument("new_secret is empty");
    if (command.overlap_seconds > limits::secret_overlap_seconds_max)
        return runtime::invalid_argument({"overlap_seconds is ", command.overlap_seconds,
                                          "; it must be 0 to ", limits::secret_overlap_seconds_max});
    webhook hook = *before;
    hook.sealed_secret = command.sealed_secret;
    hook.seal_binding = command.seal_binding;
    hook.earlier_secret = {};
    if (command.overlap_seconds > 0 && !before->sealed_secret.empty()) {
        const std::int64_t until_ms = context.time_ms() + 1'000ll * command.overlap_seconds;
        hook.earlier_secret = {before->sealed_secret, before->seal_binding, until_ms};
        context.set_timer(until_ms, timer_kind::webhook_secret_end, schemas::big_endian(hook.id.value));
    }
    return revise(context, *before, std::move(hook));
}

/// Errors: permission_denied; not_found.
answer apply(rule_context& context, const schemas::commands::set_webhook_status& command) {
    const auto before = webhook_to_change(context, command.webhook_id, "enabling or disabling a webhook");
    if (!before) return before.error();
    webhook hook = *before;
    hook.status = command.status;
    if (command.status == webhook_status::enabled) {
        hook.status_reason.clear();
        forget_failures(hook);
    } else if (before->status != webhook_status::disabled) {
        hook.status_reason = "disabled by user " + std::to_string(context.principal().value);
    }
    if (hook.status == before->status && hook.failing_since_ms == before->failing_since_ms)
        return schemas::encode(*before);
    return revise(context, *before, std::move(hook));
}

/// Errors: permission_denied; not_found for the workspace; invalid_argument.
answer apply(rule_context& context, const schemas::commands::create_event& command) {
    state_changes& state = context.state;
    if (const auto may = require_system_admin(state, context.principal(), "reporting an event"); !may)
        return may.error();
    schemas::workspace_id workspace = command.workspace_id;
    if (!workspace) workspace = tables::users::find(state, context.principal())->default_workspace_id;
    if (!access::find_workspace(state, workspace))
        return runtime::not_found({"workspace ", workspace.value, " not found"});
    if (const auto good = check_external_event(command); !good) return good.error();
    if (const auto first = tables::external_events::find(state, workspace, command.event_uuid))
        return schemas::encode(*first);
    schemas::external_event row{workspace, command.event_uuid, context.new_event_id(), context.time_ms(), 0};
    const std::string& resource = command.resource_id.empty() ? command.event_uuid : command.resource_id;
    row.audience = static_cast<std::uint32_t>(emission::emit(
        context, {command.event_type, command.resource_type, resource, workspace, row.id,
                  [&](const emission::event_draft& draft) {
                      const std::int64_t told_ms = command.timestamp ? command.timestamp : context.time_ms();
                      return emission::event_envelope(draft, told_ms, command.original_entity.text,
                                                      command.new_entity.text);
                  }}));
    const std::string name = tables::external_events::put(state, row);
    context.set_timer(context.time_ms() + limits::external_event_kept_ms, timer_kind::external_event_forget,
                      name);
    return schemas::encode(row);
}

/// Deletes all or none. Errors: permission_denied; not_found naming the id; invalid_argument for more than
/// 100 ids.
answer apply(rule_context& context, const schemas::commands::delete_webhooks& command) {
    if (const auto may = require_webhook_admin(context.state, context.principal(), "deleting a webhook");
        !may)
        return may.error();
    if (command.ids.empty() || command.ids.size() > limits::webhooks_per_delete_max)
        return runtime::invalid_argument(
            {"ids holds ", command.ids.size(), " webhooks; give 1 to ", limits::webhooks_per_delete_max});
    for (const schemas::webhook_id id : std::set(command.ids.begin(), command.ids.end())) {
        const auto hook = webhook_to_change(context, id, "deleting a webhook");
        if (!hook) return hook.error();
        erase_webhook(context, *hook);
    }
    return std::string();
}

/// One that expires later by now is not meant.
void fire_webhook_expiry(rule_context& context, std::string_view key) {
    const auto hook =
        tables::webhooks::find(context.state, schemas::webhook_id{schemas::read_big_endian(key)});
    if (!hook || hook->settings.delivery.time_expires == 0) return;
    if (hook->settings.delivery.time_expires > context.time_ms()) return;
    erase_webhook(context, *hook);
    audit::add_by_itself(context, "delete_webhook",
                         {.type = "WEBHOOK",
                          .id = std::to_string(hook->id.value),
                          .workspace = hook->workspace_id,
                          .name = hook->settings.name});
}

/// No worker signs with it any more, as it knows the time itself; here it is forgotten.
void fire_webhook_secret_end(rule_context& context, std::string_view key) {
    const auto before =
        tables::webhooks::find(context.state, schemas::webhook_id{schemas::read_big_endian(key)});
    if (!before || before->earlier_secret.until_ms == 0) return;
    if (before->earlier_secret.until_ms > context.time_ms()) return;
    webhook hook = *before;
    hook.earlier_secret = {};
    revise(context, *before, std::move(hook));
}

void fire_webhook_change_trim(rule_context& context, std::string_view key) {
    tables::webhooks::forget_erasure(context.state, key);
}

void fire_external_event_forget(rule_context& context, std::string_view key) {
    tables::external_events::forget(context.state, key);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::webhook_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
