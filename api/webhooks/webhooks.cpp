// Webhooks (wire.md §7, spec.md §4.2-4.3).
#include <algorithm>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/sealing.hpp"
#include "api/webhooks/services.hpp"
#include "api/webhooks/test_delivery.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/client/location.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/webhooks.hpp"
#include "schemas/commands/webhooks.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/webhooks.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
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

bool is_seen(const storage::registry::state::state_view& state, schemas::user_id user, const webhook& hook) {
    namespace access = storage::registry::access;
    return access::is_seen(state, user, *access::find_workspace(state, hook.workspace_id));
}

result<void> may_test(const storage::registry::state::state_view& state, schemas::user_id user,
                      const webhook& hook) {
    using namespace storage::registry::access;
    const auto workspace = *find_workspace(state, hook.workspace_id);
    if (is_system_admin(state, user) || is_workspace_admin(state, user, workspace)) return {};
    return runtime::permission_denied({"a test of webhook ", hook.id.value,
                                       " needs an admin of the workspace \"", workspace.name,
                                       "\" or a system administrator"});
}

/// There is no status code to report (wire.md §7). A 502 would make the published client repeat the test.
error no_answer(const webhook& hook, std::string_view why, const std::string& message) {
    return runtime::failed_precondition({"webhook ", hook.id.value, " gave no answer: ", why, ": ", message});
}

result<void> check_location(const writing_call& call, const std::string& location) {
    const auto parsed = runtime::http::client::parse_location(location, call.of<services>().http_locations,
                                                              call.of<services>().addresses);
    if (!parsed) return runtime::invalid_argument({"location: ", parsed.error().message});
    return {};
}

/// Never with the secret.
constexpr auto without_secret = [](webhook hook) -> webhook_answer {
    return answers::of(std::move(hook), "");
};

response create_webhook(writing_call& call) {
    const auto body = call.body<requests::create_webhook>();
    if (!body) co_return body.error();
    if (const auto good = check_secret("mutual_secret", body->mutual_secret); !good) co_return good.error();
    if (const auto good = check_location(call, body->settings.location); !good) co_return good.error();
    warn_of_weak(call, "mutual_secret", body->mutual_secret);
    auto headers = headers_in(call, body->headers);
    if (!headers) co_return headers.error();
    if (!headers->removed.empty())
        co_return runtime::invalid_argument(
            {"headers.", headers->removed.front(), " is null; a new webhook has no header to remove"});
    schemas::commands::create_webhook command;
    command.settings = body->settings;
    command.workspace_id = body->workspace_id;
    command.headers = std::move(headers->added);
    sealed secret_of = seal(call, body->mutual_secret);
    command.sealed_secret = std::move(secret_of.bytes);
    command.seal_binding = std::move(secret_of.binding);
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto made = schemas::decode<webhook>(outcome->body);
    if (!made) co_return made.error();
    auto secret = secret_of_row(call, *made);
    if (!secret) co_return secret.error();
    co_return call.answer(*outcome, answers::of(*made, *std::move(secret)));
}

/// Members of the delivery that are there are set; those that are null, to their defaults.
std::vector<std::string> given_in(const schemas::json_value& body) {
    std::vector<std::string> given;
    schemas::webhook_delivery none;
    schemas::webhook_delivery::describe(none, [&](unsigned, std::string_view name, const auto&, auto...) {
        if (body.find(name)) given.emplace_back(name);
    });
    return given;
}

response update_webhook(writing_call& call) {
    const auto sent = call.json();
    if (!sent) co_return sent.error();
    auto body = call.body_as<requests::update_webhook>(*sent);
    if (!body) co_return body.error();
    auto headers = headers_in(call, body->headers);
    if (!headers) co_return headers.error();
    if (const auto good = check_secret("mutual_secret", body->mutual_secret); !good) co_return good.error();
    if (!body->new_location.empty())
        if (const auto good = check_location(call, body->new_location); !good) co_return good.error();
    if (!body->mutual_secret.empty()) warn_of_weak(call, "mutual_secret", body->mutual_secret);
    schemas::commands::update_webhook command;
    sealed secret_of = seal(call, body->mutual_secret);
    command.sealed_secret = std::move(secret_of.bytes);
    command.seal_binding = std::move(secret_of.binding);
    const schemas::json_value* all_headers = sent->find("headers");
    command.clear_headers = all_headers && all_headers->is_null();
    command.headers = std::move(headers->added);
    command.not_headers = std::move(headers->removed);
    static_cast<schemas::webhook_changes&>(command) = *std::move(body);
    command.given = given_in(*sent);
    co_return co_await call.write<webhook>(std::move(command), without_secret);
}

response rotate_secret(writing_call& call) {
    auto body = call.body<requests::rotate_webhook_secret>();
    if (!body) co_return body.error();
    std::string secret = std::move(body->new_secret);
    if (secret.empty()) secret = new_secret(call);
    if (const auto good = check_secret("new_secret", secret); !good) co_return good.error();
    warn_of_weak(call, "new_secret", secret);
    schemas::commands::rotate_webhook_secret command;
    command.webhook_id = body->webhook_id;
    command.overlap_seconds = body->overlap_seconds.value_or(limits::secret_overlap_seconds_default);
    sealed secret_of = seal(call, secret);
    command.sealed_secret = std::move(secret_of.bytes);
    command.seal_binding = std::move(secret_of.binding);
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto changed = schemas::decode<webhook>(outcome->body);
    if (!changed) co_return changed.error();
    auto shown = secret_of_row(call, *changed);  // a repeat shows the first one's
    if (!shown) co_return shown.error();
    answers::rotated_secret said;
    said.webhook_id = changed->id;
    said.mutual_secret = *std::move(shown);
    said.earlier_until = changed->earlier_secret.until_ms;
    co_return call.answer(*outcome, said);
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
            return runtime::invalid_argument({"a list of ", size, " values; at most ",
                                              limits::webhooks_per_workspace_max, " are allowed"});
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
        co_return runtime::not_found({"webhook ", body->webhook_id.value, " not found"});
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
        co_return runtime::resource_exhausted({attempt->message, "; wait for their answers and test again"});
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
        "webhooks", "Changes a webhook's location, its secret, its events, and how deliveries are made")),
    for_webhook_administrators(write<requests::set_webhook_status, answers::webhook>(
        "set_webhook_status", http_method::post, "/api/v1/uac-proxy/events/setWebhookStatus",
        set_webhook_status, "webhooks", "Disables a webhook, or enables it and forgets its failures")),
    for_webhook_administrators(write<requests::rotate_webhook_secret, answers::rotated_secret>(
        "rotate_webhook_secret", http_method::post, "/api/v1/uac-proxy/events/rotateSecret", rotate_secret,
        "webhooks",
        "Replaces a webhook's secret; the earlier one signs, too, for overlap_seconds (a day unless given)")),
    act<requests::trigger_test, answers::test_result>("trigger_test", "/api/v1/uac-proxy/events/triggerTest",
                                                      trigger_test, "webhooks",
                                                      "Sends a test and returns the receiver's answer"),
};

}  // namespace

std::span<const calls::route> webhook_routes() { return webhook_table; }

}  // namespace herald::api::webhooks
