// Events that other systems report (wire.md §7 "createEvent").
#include "api/calls/rows.hpp"
#include "api/webhooks/routes.hpp"
#include "schemas/answers/webhooks.hpp"
#include "schemas/commands/webhooks.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
using schemas::resource_type;

/// A name ("ENDPOINT"), or an object with exactly one member, as in a webhook's resource_types.
result<resource_type> type_in(const schemas::json_text& given) {
    const auto value = schemas::parse_json(given.text);
    if (!value) return value.error();
    if (const auto* name = value->get_if<std::string>())
        for (const auto& [type, known] : schemas::enum_names<resource_type>)
            if (type != resource_type::none && known == *name) return type;
    if (value->get_if<schemas::json_object>()) {
        const auto filter = schemas::from_json<schemas::resource_filter>(*value);
        if (!filter) return filter.error();
        for (const resource_type type :
             {filter->registry_service_resource_type, filter->deployment_service_resource_type,
              filter->modeldb_service_resource_type})
            if (type != resource_type::none) return type;
    }
    return runtime::invalid_argument(
        "resource_type must be REGISTERED_MODEL, REGISTERED_MODEL_VERSION, ENDPOINT or BUILD, or an object "
        "such as {\"deployment_service_resource_type\": \"ENDPOINT\"}");
}

/// What the entity says its id is: a text or a number; else nothing.
std::string id_in(const schemas::json_text& entity) {
    if (entity.text.empty()) return {};
    const auto value = schemas::parse_json(entity.text);
    const schemas::json_value* id =
        value && value->get_if<schemas::json_object>() ? value->find("id") : nullptr;
    if (!id) return {};
    if (const auto* text = id->get_if<std::string>()) return *text;
    if (id->get_if<schemas::json_object>() || id->get_if<schemas::json_array>()) return {};
    return schemas::to_json_text(*id);
}

answers::external_event event_answer(schemas::external_event row) { return answers::of(std::move(row)); }

response create_event(writing_call& call) {
    auto body = call.body<requests::create_event>();
    if (!body) co_return body.error();
    const auto type = type_in(body->resource_type);
    if (!type) co_return type.error();
    schemas::commands::create_event command;
    command.event_uuid = std::move(body->event_uuid);
    command.event_type = *body->event_type;
    command.workspace_id = body->workspace_id;
    command.timestamp = body->timestamp;
    command.resource_type = *type;
    command.resource_id = id_in(body->new_entity);
    if (command.resource_id.empty()) command.resource_id = id_in(body->original_entity);
    command.original_entity = std::move(body->original_entity);
    command.new_entity = std::move(body->new_entity);
    co_return co_await call.write<schemas::external_event>(std::move(command), event_answer);
}

const calls::route event_table[] = {
    for_system_administrators(write<requests::create_event, answers::external_event>(
        "create_event", http_method::post, "/api/v1/uac-proxy/events/createEvent", create_event, "webhooks",
        "Reports an event of another system; a repeat of its event_uuid gets the first answer")),
};

}  // namespace

std::span<const calls::route> event_routes() { return event_table; }

}  // namespace herald::api::webhooks
