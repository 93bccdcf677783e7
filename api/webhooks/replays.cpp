// Replays: what a webhook missed is sent to it again (wire.md §7 "replays").
#include <algorithm>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/delivery_view.hpp"
#include "api/webhooks/replay_view.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "schemas/json.hpp"
#include "schemas/requests/deliveries.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/event_subjects.hpp"
#include "storage/registry/find/replays.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
using schemas::replay;
using schemas::replay_state;
namespace registry_find = storage::registry::find;

/// A replay that the caller may see: their own, or any if they see all of the workspace's deliveries. Errors:
/// not_found.
result<replay> seen_replay(const reading_call& call) {
    const auto id = call.path_id<schemas::replay_id>("replay");
    if (!id) return id.error();
    const error absent = runtime::not_found({"replay ", id->value, " not found"});
    auto row = registry_find::find_replay(call.state(), *id);
    if (!row) return absent;
    const auto sight = sight_of(call, row->workspace_id);
    if (!sight || !(sight->sees_all() || row->by == call.user().id)) return absent;
    return *std::move(row);
}

answered list_replays(reading_call& call) {
    const auto sight = sight_of(call);
    if (!sight) return sight.error();
    answers::replay_list answer;
    for (const replay& row : registry_find::replays_of(call.state(), sight->workspace().id))
        if (sight->sees_all() || row.by == call.user().id) answer.records.push_back(shown(call, row));
    answer.total_records = answer.records.size();
    return call.answer(answer);
}

answered get_replay(reading_call& call) {
    const auto row = seen_replay(call);
    if (!row) return row.error();
    return call.answer(answers::one_replay{shown(call, *row)});
}

result<schemas::commands::begin_replay> replay_in(const requests::begin_replay& body) {
    schemas::commands::begin_replay command;
    schemas::replay_scope& scope = command.scope;
    scope.webhook_id = body.webhook_id;
    for (const schemas::event_type type : body.event_types)
        if (std::ranges::count(scope.event_types, type) == 0) scope.event_types.push_back(type);
    scope.only_undelivered = body.only_undelivered.value_or(true);
    for (const auto& [name, text, time_ms] : {std::tuple("since", plain_text(body.since), &scope.since_ms),
                                              std::tuple("until", plain_text(body.until), &scope.until_ms)}) {
        if (text.empty()) continue;
        const auto time = time_in(name, text);
        if (!time) return time.error();
        *time_ms = *time;
    }
    if (scope.until_ms != 0 && scope.since_ms >= scope.until_ms)
        return runtime::invalid_argument("since must be before until");
    if (std::ranges::count(scope.event_types, schemas::event_type::read) > 0)
        return runtime::invalid_argument(
            "event_types holds READ; READ events are not kept, so none can be replayed");
    return command;
}

response begin_replay(writing_call& call, requests::begin_replay body) {
    auto command = replay_in(body);
    if (!command) co_return command.error();
    if (body.dry_run) co_return co_await dry_run(call, *std::move(command));
    co_return co_await begin(call, *std::move(command));
}

response set_state(writing_call& call, replay_state to) {
    const auto id = call.path_id<schemas::replay_id>("replay");
    if (!id) co_return id.error();
    const auto view = [&](const replay& row) { return answers::one_replay{shown(call, row)}; };
    schemas::commands::set_replay_state command{*id, to};
    co_return co_await call.write<replay>(std::move(command), view);
}
response pause_replay(writing_call& call) { co_return co_await set_state(call, replay_state::paused); }
response resume_replay(writing_call& call) { co_return co_await set_state(call, replay_state::running); }
response cancel_replay(writing_call& call) { co_return co_await set_state(call, replay_state::cancelled); }

/// As the rule would say. Errors: not_found; permission_denied.
result<replay> trial_of(const writing_call& call, schemas::commands::begin_replay command) {
    namespace access = storage::registry::access;
    const schemas::user_id user = call.user().id;
    replay row;
    row.scope = std::move(command.scope);
    row.workspace_id = command.workspace_id;
    if (row.scope.webhook_id) {
        auto hook = access::webhook_to_change(call.state(), user, row.scope.webhook_id, "a replay");
        if (!hook) return hook.error();
        row.workspace_id = hook->workspace.id;
        row.settings = std::move(hook->row.settings);
    } else if (row.scope.filter) {
        const auto sight = sight_of(call, row.workspace_id);
        if (!sight) return sight.error();
        const auto may =
            access::require_webhook_admin(call.state(), user, sight->workspace(), "sending by a filter");
        if (!may) return may.error();
    }
    if (row.scope.until_ms == 0) row.scope.until_ms = call.with().clock.wall_ms();
    return row;
}

constexpr calls::query_parameter replays_of_workspace[]{
    {"workspace_id", "id of the workspace; without it the caller's default workspace", true, false}};

const calls::route replay_table[] = {
    for_webhook_administrators(act<begin_replay, answers::sent_again>(
        "begin_replay", "/api/v1/uac-proxy/events/replays", "webhooks",
        "Sends to a webhook what it missed, as a job that goes on after any crash")),
    needing_read_of_either(read<answers::replay_list>(
        "list_replays", "/api/v1/uac-proxy/events/replays", list_replays, "webhooks",
        "Lists the replays of a workspace that the caller began or may change, the newest first",
        replays_of_workspace)),
    read<answers::one_replay>("get_replay", "/api/v1/uac-proxy/events/replays/{replay}", get_replay,
                              "webhooks", "Gets a replay and how far it is"),
    change<answers::one_replay>("pause_replay", http_method::post,
                                "/api/v1/uac-proxy/events/replays/{replay}/pause", pause_replay, "webhooks",
                                "Pauses a replay; what is under way still arrives"),
    change<answers::one_replay>("resume_replay", http_method::post,
                                "/api/v1/uac-proxy/events/replays/{replay}/resume", resume_replay, "webhooks",
                                "Lets a paused replay go on where it was"),
    change<answers::one_replay>("cancel_replay", http_method::post,
                                "/api/v1/uac-proxy/events/replays/{replay}/cancel", cancel_replay, "webhooks",
                                "Ends a replay; what is under way still arrives"),
};

}  // namespace

std::string plain_text(const schemas::json_text& given) {
    if (given.text.empty()) return {};
    const auto value = schemas::parse_json(given.text);
    if (!value) return {};
    if (const auto* text = value->get_if<std::string>()) return *text;
    if (value->get_if<schemas::json_object>() || value->get_if<schemas::json_array>()) return given.text;
    return schemas::to_json_text(*value);
}

answers::replay_entry shown(const reading_call& call, const replay& row) {
    const storage::deliveries::delivery_history& history = call.of<services>().history;
    answers::replay_entry entry;
    entry.id = row.id;
    entry.webhook_id = row.scope.webhook_id;
    entry.state = row.state;
    entry.reason = row.reason;
    entry.total = row.progress.total;
    entry.sent = row.progress.sent;
    // A history that began later than the replay knows only a part.
    const bool is_whole = history.complete_from_ms() <= row.time_begun;
    const schemas::replay_outcomes outcomes =
        is_whole ? history.outcomes_of_replay(row.id.value) : row.progress.outcomes;
    entry.delivered = outcomes.delivered;
    entry.failed = outcomes.failed;
    entry.time_begun = time_text(row.time_begun);
    entry.time_ended = time_text(row.time_ended);
    if (const auto user = registry_find::user_with_id(call.state(), row.by)) entry.by = user->email;
    return entry;
}

response begin(writing_call& call, schemas::commands::begin_replay command) {
    const auto view = [&](const replay& row) {
        answers::sent_again answer;
        answer.replay = shown(call, row);
        return answer;
    };
    co_return co_await call.write<replay>(std::move(command), view);
}

response dry_run(writing_call& call, schemas::commands::begin_replay command) {
    const auto trial = trial_of(call, std::move(command));
    if (!trial) co_return trial.error();
    const auto& with = call.of<services>();
    const auto start = [&](auto finished) {
        with.replays.count(*trial, [finished](storage::deliveries::replay_count counted) {
            finished(result<storage::deliveries::replay_count>(std::move(counted)));
        });
    };
    const auto counted =
        co_await calls::await_callback<result<storage::deliveries::replay_count>>(call.limit(), start);
    if (!counted) co_return counted.error();
    answers::sent_again answer;
    answer.count = counted->count;
    answer.oldest = time_text(counted->oldest_ms);
    answer.newest = time_text(counted->newest_ms);
    answer.by_webhook.emplace();
    delivery_view names(call, false);
    for (const auto& [id, count] : counted->by_webhook)
        answer.by_webhook->push_back({names.webhook(id), count});
    answer.events_from = time_text(registry_find::oldest_event_ms(call.state()));
    answer.complete_from = time_text(with.history.complete_from_ms());
    answer.is_partial = counted->is_partial;
    co_return call.answer(answer);
}

std::span<const calls::route> replay_routes() { return replay_table; }

}  // namespace herald::api::webhooks
