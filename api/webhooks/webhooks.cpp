// Webhooks (wire.md §7, spec.md §4.2-4.3).
#include <algorithm>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/client/location.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/webhooks.hpp"
#include "schemas/commands/webhooks.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/webhooks.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/webhooks.hpp"
#include "workers/signing.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
using schemas::object_writer;
using schemas::resource_type;
using schemas::webhook;
using webhook_answer = answers::webhook;

/// Whether events about the resources that the filter names reach the webhook.
bool would_hear(const webhook& hook, const schemas::resource_filter& asked) {
    for (const schemas::resource_type type :
         {asked.registry_service_resource_type, asked.deployment_service_resource_type,
          asked.modeldb_service_resource_type})
        if (type != schemas::resource_type::none && hears_of(hook, type)) return true;
    return false;
}

bool wants(const requests::find_webhooks& asked, const webhook& hook) {
    const auto holds = [](const auto& list, const auto& value) {
        return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    const bool is_heard = asked.resource_types.empty() ||
                          std::any_of(asked.resource_types.begin(), asked.resource_types.end(),
                                      [&](const auto& filter) { return would_hear(hook, filter); });
    return holds(asked.ids, hook.id) && holds(asked.names, hook.settings.name) &&
           holds(asked.workspace_id, hook.workspace_id) && is_heard;
}

constexpr std::string_view standard_prefix = "whsec_";  // of Standard Webhooks

/// The error text never contains the secret.
result<void> check_secret(const std::string& secret) {
    if (secret.size() > limits::secret_bytes_max)
        return runtime::invalid_argument("mutual_secret is " + std::to_string(secret.size()) +
                                         " bytes long; it must be at most " +
                                         std::to_string(limits::secret_bytes_max));
    const std::string_view inside = runtime::trimmed(secret, " \t\n\v\f\r");
    if (inside.size() != secret.size() && inside.starts_with(standard_prefix))
        return runtime::invalid_argument(
            "mutual_secret has white space before or after a whsec_ secret; remove it");
    if (!secret.starts_with(standard_prefix)) return {};
    const std::string key = workers::signing_key(secret);
    if (key == secret)
        return runtime::invalid_argument(
            "mutual_secret starts with whsec_, but what follows is not the padded base64 of 24 to 64 bytes; "
            "make one with: echo whsec_$(head -c 32 /dev/urandom | base64)");
    if (runtime::to_base64(key) != secret.substr(standard_prefix.size()))
        return runtime::invalid_argument(
            "mutual_secret starts with whsec_, but the base64 that follows is not padded rightly; it must be "
            "padded with = to the next multiple of 4 characters");
    return {};
}

/// A receiver cannot tell who sent a delivery without a signature, or with one of a secret that can be
/// guessed.
void warn_of_weak(writing_call& call, const std::string& secret) {
    constexpr std::string_view advice = "; use whsec_ and the base64 of 24 to 64 random bytes";
    if (secret.empty())
        call.warn("mutual_secret is empty: deliveries are not signed" + std::string(advice));
    else if (secret.size() < limits::secret_bytes_recommended)
        call.warn("mutual_secret is " + std::to_string(secret.size()) + " bytes long, which can be guessed" +
                  std::string(advice));
}

/// The kind of event that a test of the webhook shows: its first event type.
schemas::event_kind example_for(const webhook& hook) {
    return schemas::kind_of(hook.settings.event_types.empty() ? schemas::event_type::promote
                                                              : hook.settings.event_types.front());
}

/// The resource type that such an event is about; a version if it may be any.
resource_type resource_of(const schemas::event_kind& kind) {
    return kind.resource == resource_type::none ? resource_type::registered_model_version : kind.resource;
}

/// The body of a test: the REQUEST_SCAN envelope with event_type TEST, a message, and an example of the
/// webhook's first event type (wire.md "Events").
std::string test_body(const webhook& hook, std::string_view test_id, std::int64_t now_ms) {
    const schemas::event_kind example = example_for(hook);
    schemas::model_version version;
    version.id.value = version.registered_model_id.value = version.owner.value = version.version_number = 1;
    version.version = "example";
    version.time_created = version.time_updated = now_ms;
    version.stage = schemas::stage::production;
    std::string shown = schemas::view_of(version);
    if (example.type == schemas::event_type::promote)
        shown = schemas::promote_body(version);
    else if (resource_of(example) == resource_type::build)
        shown =
            object_writer().number("buildID", 1).text("imageurl", "registry.example.com/model:1").finish();
    return object_writer()
        .text("id", test_id)
        .text("timestamp", runtime::iso8601_ms(now_ms))
        .text("event_type", "TEST")
        .text("resource_type", name_of(resource_of(example)))
        .number("workspaceID", hook.workspace_id.value)
        .text("message", "This is a test of the webhook \"" + hook.settings.name +
                             "\". The example shows a " + std::string(example.name) + " event.")
        .raw("example", shown)
        .finish();
}

/// A delivery outside any event: nothing about it is in the command log.
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

bool is_seen(const storage::registry::state::state_view& state, schemas::user_id user, const webhook& hook) {
    using namespace storage::registry::access;
    return is_system_admin(state, user) || is_visible(state, user, *find_workspace(state, hook.workspace_id));
}

result<void> may_test(const storage::registry::state::state_view& state, schemas::user_id user,
                      const webhook& hook) {
    using namespace storage::registry::access;
    const auto workspace = *find_workspace(state, hook.workspace_id);
    if (is_system_admin(state, user) || is_workspace_admin(state, user, workspace)) return {};
    return runtime::permission_denied("a test of webhook " + std::to_string(hook.id.value) +
                                      " needs an admin of the workspace \"" + workspace.name +
                                      "\" or a system administrator");
}

/// There is no status code to report (wire.md §7). A 502 would make the published client repeat the test.
error no_answer(const webhook& hook, std::string_view why, const std::string& message) {
    return runtime::failed_precondition("webhook " + std::to_string(hook.id.value) +
                                        " gave no answer: " + std::string(why) + ": " + message);
}

/// A secret on its way into the log.
struct sealed {
    std::string bytes;
    std::string binding;
};
sealed sealed_secret(writing_call& call, const std::string& secret) {
    if (secret.empty()) return {};
    std::string binding = "webhook:" + runtime::uuid_text(call.with().random.uuid());
    std::string bytes = call.with().keys.seal(binding, secret, call.with().random);
    return {std::move(bytes), std::move(binding)};
}

result<void> check_location(const writing_call& call, const std::string& location) {
    const auto parsed = runtime::http::client::parse_location(location, call.of<services>().http_locations,
                                                              call.of<services>().addresses);
    if (!parsed) return runtime::invalid_argument("location: " + parsed.error().message);
    return {};
}

/// Never with the secret.
constexpr auto without_secret = [](webhook hook) -> webhook_answer {
    return answers::of(std::move(hook), "");
};

response create_webhook(writing_call& call) {
    const auto body = call.body<requests::create_webhook>();
    if (!body) co_return body.error();
    if (const auto good = check_secret(body->mutual_secret); !good) co_return good.error();
    if (const auto good = check_location(call, body->settings.location); !good) co_return good.error();
    warn_of_weak(call, body->mutual_secret);
    schemas::commands::create_webhook command;
    command.settings = body->settings;
    command.workspace_id = body->workspace_id;
    sealed secret_of = sealed_secret(call, body->mutual_secret);
    command.sealed_secret = std::move(secret_of.bytes);
    command.seal_binding = std::move(secret_of.binding);
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto made = schemas::decode<webhook>(outcome->body);
    if (!made) co_return made.error();
    std::string secret;
    if (!made->sealed_secret.empty()) {
        auto opened = call.with().keys.unseal(made->seal_binding, made->sealed_secret);
        if (!opened) co_return opened.error();
        secret = *std::move(opened);
    }
    co_return call.answer(*outcome, answers::of(*made, std::move(secret)));
}

response update_webhook(writing_call& call) {
    auto body = call.body<requests::update_webhook>();
    if (!body) co_return body.error();
    if (const auto good = check_secret(body->mutual_secret); !good) co_return good.error();
    if (!body->new_location.empty())
        if (const auto good = check_location(call, body->new_location); !good) co_return good.error();
    if (!body->mutual_secret.empty()) warn_of_weak(call, body->mutual_secret);
    schemas::commands::update_webhook command;
    sealed secret_of = sealed_secret(call, body->mutual_secret);
    command.sealed_secret = std::move(secret_of.bytes);
    command.seal_binding = std::move(secret_of.binding);
    static_cast<schemas::webhook_changes&>(command) = *std::move(body);
    co_return co_await call.write<webhook>(std::move(command), without_secret);
}

response set_webhook_status(writing_call& call) {
    const auto body = call.body<requests::set_webhook_status>();
    if (!body) co_return body.error();
    schemas::commands::set_webhook_status command{body->webhook_id, *body->status};
    co_return co_await call.write<webhook>(std::move(command), without_secret);
}

/// The webhooks of the workspaces that the caller is an admin of. The secret is never shown again.
slicing find_webhooks(reading_call& call) {
    auto body = call.body<requests::find_webhooks>();
    if (!body) return body.error();
    for (const std::size_t size :
         {body->ids.size(), body->names.size(), body->workspace_id.size(), body->resource_types.size()})
        if (size > limits::webhooks_per_workspace_max)
            return runtime::invalid_argument("a list of " + std::to_string(size) + " values; at most " +
                                             std::to_string(limits::webhooks_per_workspace_max) +
                                             " are allowed");
    const auto page = std::exchange(body->pagination, std::nullopt);
    const std::string asked = storage::registry::find::question("webhooks", schemas::encode(*body));
    const auto is_wanted = [wanted = *std::move(body)](const webhook& hook) { return wants(wanted, hook); };
    return calls::answer_in_slices<answers::webhooks>(
        call, storage::registry::find::search_webhooks(call.state(), call.user().id, is_wanted, page, asked),
        without_secret);
}

response delete_webhooks(writing_call& call) {
    auto body = call.body<requests::delete_webhooks>();
    if (!body) co_return body.error();
    schemas::commands::delete_webhooks command{std::move(body->ids)};
    co_return co_await call.write(std::move(command), answers::done());
}

/// A test goes the way of every delivery: log, worker, attempts (design.md §3). The answer is the receiver's.
response trigger_test(writing_call& call) {
    const auto body = call.body<requests::trigger_test>();
    if (!body) co_return body.error();
    const storage::registry::state::state_view& state = call.state();
    const auto hook = storage::registry::find::find_webhook(state, body->webhook_id);
    if (!hook || !is_seen(state, call.user().id, *hook))
        co_return runtime::not_found("webhook " + std::to_string(body->webhook_id.value) + " not found");
    if (const auto may = may_test(state, call.user().id, *hook); !may) co_return may.error();
    const std::string test_id = runtime::uuid_text(call.with().random.uuid());
    schemas::delivery test = test_of(*hook, test_id, call.with().clock.wall_ms());
    test.event.workspace_name = storage::registry::access::find_workspace(state, hook->workspace_id)->name;
    // Together with the webhook's revision, this tells a worker how far its table must be before "unknown"
    // means "deleted".
    test.event.generation = call.reading().generation;
    const auto start = [&](auto finished) {
        call.of<services>().triggers.send(std::move(test), std::move(finished));
    };
    const auto attempt = co_await calls::await_callback<result<schemas::attempt>>(call.limit(), start);
    if (!attempt && attempt.error().code != error_code::deadline_exceeded) co_return attempt.error();
    if (!attempt) co_return no_answer(*hook, "no-worker", attempt.error().message);
    if (attempt->error == schemas::delivery_error::busy)
        co_return runtime::resource_exhausted(attempt->message + "; wait for their answers and test again");
    if (attempt->status == 0)
        co_return no_answer(*hook,
                            attempt->error == schemas::delivery_error::none ? name_of(attempt->result)
                                                                            : name_of(attempt->error),
                            attempt->message);
    co_return call.answer(answers::of(*attempt));
}

const calls::route webhook_table[] = {
    for_webhook_administrators(making_subscribers(write<requests::create_webhook, answers::webhook>(
        "create_webhook", http_method::post, "/api/v1/uac-proxy/events/createWebhook", create_webhook,
        "webhooks", "Creates a webhook; use a mutual_secret of the form whsec_<base64>"))),
    find<requests::find_webhooks, answers::webhooks>(
        "find_webhooks", "/api/v1/uac-proxy/events/findWebhook", find_webhooks, "webhooks",
        "Finds webhooks of workspaces that the caller administers; secrets are never shown"),
    for_webhook_administrators(write<requests::delete_webhooks, answers::done>(
        "delete_webhooks", http_method::delete_, "/api/v1/uac-proxy/events/deleteWebhook", delete_webhooks,
        "webhooks", "Deletes webhooks: all or none")),
    for_webhook_administrators(write<requests::update_webhook, answers::webhook>(
        "update_webhook", http_method::post, "/api/v1/uac-proxy/events/updateWebhook", update_webhook,
        "webhooks", "Changes a webhook's location, its secret, and its events")),
    for_webhook_administrators(write<requests::set_webhook_status, answers::webhook>(
        "set_webhook_status", http_method::post, "/api/v1/uac-proxy/events/setWebhookStatus",
        set_webhook_status, "webhooks", "Disables a webhook, or enables it and forgets its failures")),
    act<requests::trigger_test, answers::test_result>("trigger_test", "/api/v1/uac-proxy/events/triggerTest",
                                                      trigger_test, "webhooks",
                                                      "Sends a test and returns the receiver's answer"),
};

}  // namespace

std::span<const calls::route> webhook_routes() { return webhook_table; }

}  // namespace herald::api::webhooks
