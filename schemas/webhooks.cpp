#include "schemas/webhooks.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "schemas/event_kinds.hpp"

namespace herald::schemas {
namespace {

bool lets_through(const resource_filter& filter, resource_type type) {
    for (const resource_type wanted :
         {filter.registry_service_resource_type, filter.deployment_service_resource_type,
          filter.modeldb_service_resource_type})
        if (wanted == type || wanted == resource_type::all) return true;
    return false;
}

}  // namespace

bool hears(const webhook& hook, event_type type, resource_type resource) {
    const bool type_named = std::ranges::count(hook.settings.event_types, type) > 0;
    if (kind_of(type).hearers == event_hearers::named)
        return type_named && hook.settings.resource_types.empty();
    const bool type_wanted = hook.settings.all_events || type_named;
    const bool resource_wanted =
        hook.settings.resource_types.empty() ||
        std::any_of(hook.settings.resource_types.begin(), hook.settings.resource_types.end(),
                    [&](const resource_filter& filter) { return lets_through(filter, resource); });
    return type_wanted && resource_wanted;
}

bool hears_of(const webhook& hook, resource_type wanted) {
    for (const auto& [type, type_name] : enum_names<event_type>) {
        if (kind_of(type).hearers == event_hearers::named) {
            if (wanted == resource_type::all && hears(hook, type, resource_type::none)) return true;
            continue;
        }
        for (const auto& [resource, resource_name] : enum_names<resource_type>) {
            if (resource == resource_type::none || resource == resource_type::all) continue;
            const resource_type only = kind_of(type).resource;
            if ((wanted == resource || wanted == resource_type::all) &&
                (only == resource_type::none || only == resource) && hears(hook, type, resource))
                return true;
        }
    }
    return false;
}

std::string delivery_id(std::string_view event, webhook_id webhook) {
    constexpr std::size_t bytes = 16;
    std::string both(event);
    both += '/';
    both += std::to_string(webhook.value);
    const runtime::sha256_digest digest = runtime::sha256(both);
    return runtime::to_hex(runtime::as_bytes(digest).substr(0, bytes));
}

}  // namespace herald::schemas
