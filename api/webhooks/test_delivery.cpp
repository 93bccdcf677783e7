#include "api/webhooks/test_delivery.hpp"

#include "runtime/text.hpp"
#include "schemas/answers/events.hpp"
#include "schemas/event_kinds.hpp"
#include "schemas/json.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/views.hpp"

namespace herald::api::webhooks {
namespace {

using schemas::object_writer;
using schemas::resource_type;
using schemas::webhook;

/// The kind of event that a test of the webhook shows: its first event type.
schemas::event_kind example_for(const webhook& hook) {
    return schemas::kind_of(hook.settings.event_types.empty() ? schemas::event_type::promote
                                                              : hook.settings.event_types.front());
}

/// The resource type that such an event is about; a version if it may be any.
resource_type resource_of(const schemas::event_kind& kind) {
    if (kind.type == schemas::event_type::webhook_health) return resource_type::none;
    return kind.resource == resource_type::none ? resource_type::registered_model_version : kind.resource;
}

schemas::model_version version_at(std::int64_t now_ms) {
    schemas::model_version version;
    version.id.value = version.registered_model_id.value = version.owner.value = version.version_number = 1;
    version.version = "example";
    version.time_created = version.time_updated = now_ms;
    version.stage = schemas::stage::production;
    return version;
}

template <class Event>
Event begun(schemas::event_type type, std::string_view resource_type, const webhook& hook,
            std::int64_t now_ms) {
    Event made;
    made.id = "example";
    made.timestamp = runtime::iso8601_ms(now_ms);
    made.event_type = name_of(type);
    made.resource_type = resource_type;
    made.workspace_id = hook.workspace_id;
    return made;
}

std::string example_transition(const webhook& hook, std::int64_t now_ms) {
    auto made = begun<schemas::answers::transition_event>(
        schemas::event_type::transition, name_of(resource_type::registered_model_version), hook, now_ms);
    made.action = "requested";
    made.transition = {1, "STAGING", "PRODUCTION", "PENDING", "example"};
    made.model = made.version = {1, "example"};
    made.by = made.requested_by = {1, "example", "example@example.com"};
    return to_json_object(made, made.style);
}

std::string example_health(const webhook& hook, std::int64_t now_ms) {
    auto made = begun<schemas::answers::webhook_health_event>(schemas::event_type::webhook_health, "NONE",
                                                              hook, now_ms);
    made.webhook = {1, "example", "receiver.example.com"};
    made.condition = "failing";
    made.since = made.timestamp;
    made.reason = "answered 500";
    return to_json_object(made, made.style);
}

/// PROMOTE, TRANSITION and WEBHOOK_HEALTH: the body. Others: `updated` of the body.
std::string example_of(schemas::event_type type, const webhook& hook, std::int64_t now_ms) {
    switch (type) {
        case schemas::event_type::promote:
            return schemas::promote_body(version_at(now_ms));
        case schemas::event_type::request_scan:
            return object_writer()
                .number("buildID", 1)
                .text("imageurl", "registry.example.com/model:1")
                .finish();
        case schemas::event_type::transition:
            return example_transition(hook, now_ms);
        case schemas::event_type::webhook_health:
            return example_health(hook, now_ms);
        default:
            return schemas::view_of(version_at(now_ms));
    }
}

/// The body of a test: the REQUEST_SCAN envelope with event_type TEST, a message, and an example of the
/// webhook's first event type (wire.md "Events").
std::string test_body(const webhook& hook, std::string_view test_id, std::int64_t now_ms) {
    const schemas::event_kind example = example_for(hook);
    return object_writer()
        .text("id", test_id)
        .text("timestamp", runtime::iso8601_ms(now_ms))
        .text("event_type", "TEST")
        .text("resource_type", name_of(resource_of(example)))
        .number("workspaceID", hook.workspace_id.value)
        .text("message", "This is a test of the webhook \"" + hook.settings.name +
                             "\". The example shows a " + std::string(example.name) + " event.")
        .raw("example", example_of(example.type, hook, now_ms))
        .finish();
}

}  // namespace

schemas::delivery test_of(const webhook& hook, const std::string& test_id, std::int64_t now_ms) {
    schemas::delivery test;
    test.id = test_id;
    test.webhook_id = hook.id;
    test.revision_seen = hook.revision;
    test.event.id = test_id;
    test.event.type = example_for(hook).type;
    test.event.resource_type = resource_of(example_for(hook));
    test.event.workspace_id = hook.workspace_id;
    test.event.time_ms = now_ms;
    test.event.body = test_body(hook, test_id, now_ms);
    return test;
}

}  // namespace herald::api::webhooks
