// Deliveries that are sent again: one, or many as a replay (wire.md §7 "Deliveries").
#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/event_subjects.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/replays.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using schemas::replay;
using schemas::replay_state;
using schemas::webhook;
using state::state_changes;

std::string text_of(schemas::webhook_id id) { return "webhook " + std::to_string(id.value); }

/// A webhook of a workspace that the user sees. Errors: not_found.
result<access::placed<webhook>> seen_webhook(const state_changes& state, schemas::user_id user,
                                             schemas::webhook_id id) {
    auto hook = tables::webhooks::find(state, id);
    auto workspace = hook ? access::find_workspace(state, hook->workspace_id) : std::nullopt;
    if (!workspace || !access::is_seen(state, user, *workspace))
        return runtime::not_found({text_of(id), " not found"});
    return access::placed<webhook>{*std::move(hook), *std::move(workspace)};
}

result<void> require_enabled(const webhook& hook) {
    if (hook.status == schemas::webhook_status::enabled) return {};
    return runtime::failed_precondition({text_of(hook.id), " is disabled; enable it first"});
}

/// The event of a delivery that the user may send again. Errors: not_found; permission_denied.
result<schemas::event> sendable_event(const state_changes& state, schemas::user_id user,
                                      const schemas::event_for_webhook& what,
                                      const schemas::workspace& workspace) {
    const error absent =
        runtime::not_found({"event \"", what.event_id, "\" not found; events are kept for 30 days"});
    auto event = find::find_event(state, what.event_id);
    if (!event || event->workspace_id != workspace.id) return absent;
    if (access::may_change_webhooks(state, user, workspace)) return *std::move(event);
    if (!find::may_read_subject(state, user, workspace, event->resource_type, event->resource_id))
        return absent;
    if (find::may_resend_about(state, user, workspace, event->resource_type, event->resource_id))
        return *std::move(event);
    return runtime::permission_denied(
        "sending a delivery again needs UPDATE on what its event is about (DEPLOY on an endpoint), or a "
        "system administrator");
}

result<void> check_picked(const state_changes& state, schemas::user_id user,
                          const std::vector<schemas::event_for_webhook>& picked, schemas::workspace_id& in) {
    if (picked.size() > limits::retried_at_once_max)
        return runtime::invalid_argument({"ids holds ", picked.size(), " deliveries; give at most ",
                                          limits::retried_at_once_max, ", or a filter"});
    for (const schemas::event_for_webhook& each : picked) {
        const auto hook = seen_webhook(state, user, each.webhook_id);
        if (!hook) return hook.error();
        if (in && in != hook->workspace.id)
            return runtime::invalid_argument("ids holds deliveries of several workspaces; give those of one");
        in = hook->workspace.id;
        if (const auto event = sendable_event(state, user, each, hook->workspace); !event)
            return event.error();
    }
    return {};
}

result<void> check_room(const state_changes& state, schemas::workspace_id workspace) {
    std::size_t kept = 0, running = 0;
    tables::replays::each_back_of(state, workspace, {}, [&](schemas::replay_id id) {
        const auto row = tables::replays::find(state, id);
        if (row && !schemas::has_ended(row->state)) ++running;
        return ++kept < limits::replays_kept_max;
    });
    const auto refuse = [&](std::size_t count, const std::string& of_them, const std::string& advice) {
        return runtime::resource_exhausted({"workspace ", workspace.value, " has ", count, " replays ",
                                            of_them, ", the most there may be; ", advice});
    };
    if (running >= limits::replays_running_max)
        return refuse(running, "that have not ended", "wait, or cancel one");
    if (kept >= limits::replays_kept_max)
        return refuse(kept, "of the last 30 days", "wait until the oldest are forgotten");
    return {};
}

void end(rule_context& context, replay& row, replay_state how) {
    row.state = how;
    row.time_ended = context.time_ms();
    context.set_timer(context.time_ms() + limits::replay_kept_ms, context::timer_kind::replay_forget,
                      schemas::big_endian(row.id.value));
}

/// The workspace of the replay; who may begin it is checked. Errors: not_found; permission_denied;
/// invalid_argument; failed_precondition for a webhook that is disabled.
result<schemas::workspace_id> place_of(const rule_context& context,
                                       const schemas::commands::begin_replay& command,
                                       schemas::webhook_settings& settings) {
    const state_changes& state = context.state;
    const schemas::user_id user = context.principal();
    schemas::workspace_id id = command.workspace_id;
    if (!command.scope.picked.empty()) {
        if (const auto good = check_picked(state, user, command.scope.picked, id); !good) return good.error();
        return id;
    }
    if (command.scope.webhook_id) {
        const auto hook = access::webhook_to_change(state, user, command.scope.webhook_id, "a replay");
        if (!hook) return hook.error();
        if (const auto good = require_enabled(hook->row); !good) return good.error();
        settings = hook->row.settings;
        return hook->workspace.id;
    }
    if (!command.scope.filter)
        return runtime::invalid_argument("webhook_id is missing; it must be the id of a webhook");
    if (!id) id = access::default_workspace_of(state, *tables::users::find(state, user));
    const auto workspace = access::find_workspace(state, id);
    if (!workspace || !access::is_seen(state, user, *workspace))
        return runtime::not_found({"workspace ", id.value, " not found"});
    if (const auto may = access::require_webhook_admin(state, user, *workspace, "sending by a filter"); !may)
        return may.error();
    return id;
}

}  // namespace

/// Errors: not_found; permission_denied; failed_precondition for a webhook that is disabled.
answer apply(rule_context& context, const schemas::commands::retry_delivery& command) {
    const schemas::user_id user = context.principal();
    const auto hook = seen_webhook(context.state, user, command.webhook_id);
    if (!hook) return hook.error();
    if (const auto event =
            sendable_event(context.state, user, {command.event_id, command.webhook_id}, hook->workspace);
        !event)
        return event.error();
    if (const auto good = require_enabled(hook->row); !good) return good.error();
    return std::string();
}

/// Errors: not_found; permission_denied; invalid_argument; failed_precondition for a webhook that is
/// disabled; resource_exhausted.
answer apply(rule_context& context, const schemas::commands::begin_replay& command) {
    replay row;
    const auto workspace = place_of(context, command, row.settings);
    if (!workspace) return workspace.error();
    if (const auto good = check_room(context.state, *workspace); !good) return good.error();
    row.id = context.next_id<schemas::replay_id>("replay");
    row.workspace_id = *workspace;
    row.scope = command.scope;
    const std::int64_t now_ms = context.time_ms();
    row.scope.until_ms = row.scope.until_ms == 0 ? now_ms + 1 : std::min(row.scope.until_ms, now_ms + 1);
    if (row.scope.filter) {
        row.scope.filter->workspace_id = *workspace;
        row.scope.filter->until_ms = std::min(row.scope.filter->until_ms, now_ms + 1);
    }
    row.time_begun = now_ms;
    row.by = context.principal();
    tables::replays::put(context.state, row);
    return schemas::encode(row);
}

/// Errors: not_found; failed_precondition for one that has ended; invalid_argument.
answer apply(rule_context& context, const schemas::commands::set_replay_state& command) {
    const error absent = runtime::not_found({"replay ", command.replay_id.value, " not found"});
    const auto before = tables::replays::find(context.state, command.replay_id);
    const auto workspace =
        before ? access::find_workspace(context.state, before->workspace_id) : std::nullopt;
    const schemas::user_id user = context.principal();
    if (!workspace || !access::is_seen(context.state, user, *workspace)) return absent;
    // Others do not see it.
    if (before->by != user && !access::may_change_webhooks(context.state, user, *workspace)) return absent;
    if (command.state == replay_state::done || command.state == replay_state::failed)
        return runtime::invalid_argument("a replay can be paused, resumed or cancelled");
    if (before->state == command.state) return schemas::encode(*before);
    if (schemas::has_ended(before->state))
        return runtime::failed_precondition(
            {"replay ", before->id.value, " has ended: it is ", name_of(before->state), "; begin another"});
    replay row = *before;
    if (command.state == replay_state::cancelled)
        end(context, row, replay_state::cancelled);
    else
        row.state = command.state;
    tables::replays::update(context.state, *before, row);
    return schemas::encode(row);
}

/// Errors: aborted when the sender no longer holds the job. What has ended stays as it is.
answer apply(rule_context& context, const schemas::commands::report_replay& command) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::replay));
    if (!claim || claim->token != command.token) return runtime::aborted("the job replay has another holder");
    if (command.progress.cursor.bytes.size() > limits::replay_cursor_bytes_max)
        return runtime::invalid_argument("the cursor of a replay is too long");
    const auto before = tables::replays::find(context.state, command.replay_id);
    if (!before || schemas::has_ended(before->state)) return std::string();
    replay row = *before;
    row.progress = command.progress;
    if (!command.failed_because.empty()) {
        row.reason = command.failed_because;
        end(context, row, replay_state::failed);
    } else if (command.is_done) {
        end(context, row, replay_state::done);
    }
    tables::replays::update(context.state, *before, row);
    return std::string();
}

void fire_replay_forget(rule_context& context, std::string_view key) {
    if (const auto row =
            tables::replays::find(context.state, schemas::replay_id{schemas::read_big_endian(key)}))
        tables::replays::erase(context.state, *row);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::delivery_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
