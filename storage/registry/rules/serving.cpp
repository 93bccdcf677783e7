// What nodes report of the components that updates bring, and how updates go on by it (design.md §4).
#include <algorithm>

#include "schemas/commands/limits.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/rules/canary.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoint_updates.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/nodes.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::endpoint_update;
using schemas::node_row;
using schemas::ready_node;
using schemas::update_phase;
using schemas::whole_ppm;

std::string step_key(schemas::update_id id) { return schemas::big_endian(id.value); }

void set_step(rule_context& context, endpoint_update& update, std::int64_t due_ms) {
    update.step_due_ms = due_ms;
    context.set_timer(due_ms, timer_kind::endpoint_update_step, step_key(update.id));
}

bool is_among(const std::vector<ready_node>& all, const node_row& node) {
    return std::ranges::any_of(
        all, [&](const ready_node& each) { return each.node == node.node && each.boot == node.boot; });
}

/// An earlier process of the node has said nothing that still holds.
void put_in_place_of(std::vector<ready_node>& all, const ready_node& now) {
    std::erase_if(all, [&](const ready_node& each) { return each.node == now.node; });
    all.push_back(now);
}

bool is_serving(const node_row& node) { return node.serves_predictions && node.boot != schemas::uuid{}; }

/// When the node was heard that serves predictions and was heard last. Others are silent if they have not
/// been heard for long when it was: after a gap in the log all are, and none is to be passed over for that.
std::int64_t newest_heartbeat_ms(const rule_context& context) {
    std::int64_t newest_ms = 0;
    tables::nodes::each(context.state, [&](const node_row& node) {
        if (is_serving(node)) newest_ms = std::max(newest_ms, node.last_heartbeat_ms);
        return true;
    });
    return newest_ms;
}

/// Since a gap in the log, every node has had the time to be heard again.
bool may_pass_over_silent(const rule_context& context, const endpoint_update& update) {
    return update.phase != update_phase::loading ||
           update.step_due_ms <= context.time_ms() + limits::component_look_ms;
}

/// Whether all nodes that serve predictions and are heard of are among these, and there is one of these that
/// still serves.
bool are_all_serving_nodes(const rule_context& context, const endpoint_update& update,
                           const std::vector<ready_node>& these) {
    const std::int64_t heard_since_ms =
        may_pass_over_silent(context, update) ? newest_heartbeat_ms(context) - limits::claim_lapse_ms : 0;
    bool is_one_there = false, is_one_missing = false;
    tables::nodes::each(context.state, [&](const node_row& node) {
        if (!is_serving(node)) return true;
        if (is_among(these, node))
            is_one_there = true;
        else if (node.last_heartbeat_ms >= heard_since_ms)
            is_one_missing = true;
        return !is_one_missing;
    });
    return is_one_there && !is_one_missing;
}

/// The node is that process, and serves predictions.
bool speaks_for(const rule_context& context, const std::string& node, const schemas::uuid& boot) {
    const auto row = tables::nodes::find(context.state, node);
    return row && row->boot == boot;
}

void begin_interval(rule_context& context, endpoint_update update) {
    ++update.interval;
    update.counts = {};
    update.counted.clear();
    update.interval_ends_ms = context.time_ms() + update.canary.progress_interval_seconds * 1'000ll;
    set_step(context, update, update.interval_ends_ms + limits::canary_reports_wait_ms);
    tables::endpoint_updates::put(context.state, update);
}

/// Every node has it loaded: it serves, or gets its first share.
void loaded(rule_context& context, endpoint_update update) {
    cancel_step(context, update);
    if (update.strategy == schemas::update_strategy::rollout || !replaces_what_serves(context, update))
        return complete_update(context, update);
    update.phase = update_phase::canary;
    update.ready.clear();
    set_share(context, update, update.canary.progress_step_ppm);
    begin_interval(context, std::move(update));
}

/// An interval of a canary is over, and what was counted is known.
void decide(rule_context& context, endpoint_update update) {
    cancel_step(context, update);
    if (!replaces_what_serves(context, update)) return complete_update(context, update);
    if (update.counts.requests < limits::canary_requests_min) {
        if (++update.holds >= limits::canary_holds_max)
            return roll_back(context, update,
                             "in " + std::to_string(update.holds) +
                                 " intervals in a row there were fewer than " +
                                 std::to_string(limits::canary_requests_min) + " requests to decide by");
        return begin_interval(context, std::move(update));
    }
    if (const auto broken = broken_rule(update.canary, update.counts))
        return roll_back(context, update, *broken);
    update.holds = 0;
    const std::uint32_t share = share_of(context, update) + update.canary.progress_step_ppm;
    if (share >= whole_ppm) return complete_update(context, update);
    set_share(context, update, share);
    begin_interval(context, std::move(update));
}

}  // namespace

void cancel_step(rule_context& context, const endpoint_update& update) {
    if (update.step_due_ms == 0) return;
    context.cancel_timer(update.step_due_ms, timer_kind::endpoint_update_step, step_key(update.id));
}

void begin_loading(rule_context& context, endpoint_update update) {
    update.phase = update_phase::loading;
    update.deadline_ms = context.time_ms() + limits::component_load_ms_max;
    set_step(context, update, context.time_ms() + limits::component_look_ms);
    tables::endpoint_updates::put(context.state, update);
}

/// What is late is ignored: another update, or none, runs by then. Errors: aborted for a process whose node
/// has restarted since; invalid_argument.
answer apply(rule_context& context, const schemas::commands::component_ready& command) {
    if (const auto good = check_text("error", command.error, limits::stage_log_message_bytes_max); !good)
        return good.error();
    auto update = tables::endpoint_updates::find(context.state, command.update_id);
    if (!update || update->phase != update_phase::loading) return std::string();
    if (!speaks_for(context, command.node, command.boot))
        return runtime::aborted({"another process runs as node \"", command.node, "\""});
    if (!command.error.empty()) {
        roll_back(context, *update, "node " + command.node + ": " + command.error);
        return std::string();
    }
    put_in_place_of(update->ready, {command.node, command.boot});
    if (are_all_serving_nodes(context, *update, update->ready))
        loaded(context, *std::move(update));
    else
        tables::endpoint_updates::put(context.state, *update);
    return std::string();
}

/// Counts of another interval, and those that a node sends again, are ignored. Errors: aborted for a process
/// whose node has restarted since; invalid_argument.
answer apply(rule_context& context, const schemas::commands::report_canary& command) {
    if (const auto good = check_counts(command.counts); !good) return good.error();
    auto update = tables::endpoint_updates::find(context.state, command.update_id);
    if (!update || update->phase != update_phase::canary || update->interval != command.interval)
        return std::string();
    if (!speaks_for(context, command.node, command.boot))
        return runtime::aborted({"another process runs as node \"", command.node, "\""});
    const ready_node who{command.node, command.boot};
    if (std::ranges::find(update->counted, who) != update->counted.end()) return std::string();
    put_in_place_of(update->counted, who);
    add_counts(update->counts, command.counts);
    if (context.time_ms() >= update->interval_ends_ms &&
        are_all_serving_nodes(context, *update, update->counted))
        decide(context, *std::move(update));
    else
        tables::endpoint_updates::put(context.state, *update);
    return std::string();
}

/// While it loads: which nodes are still waited for, and for how long. In a canary: nodes that have not
/// reported their counts by now are not waited for.
void fire_endpoint_update_step(rule_context& context, std::string_view key) {
    auto update =
        tables::endpoint_updates::find(context.state, schemas::update_id{schemas::read_big_endian(key)});
    if (!update || update->step_due_ms > context.time_ms()) return;
    if (update->phase == update_phase::canary) return decide(context, *std::move(update));
    if (update->phase != update_phase::loading) return;
    const bool is_after_gap = context.time_ms() - update->step_due_ms > limits::component_look_ms;
    if (!is_after_gap && are_all_serving_nodes(context, *update, update->ready))
        return loaded(context, *std::move(update));
    if (update->deadline_ms <= context.time_ms())
        return roll_back(context, *update,
                         update->ready.empty()
                             ? "no node that serves predictions had loaded it within 10 min"
                             : "not every node that serves predictions had loaded it within 10 min");
    // After a gap in the log every node is silent until it is heard again: none is passed over before.
    set_step(context, *update,
             context.time_ms() + limits::component_look_ms + (is_after_gap ? limits::claim_lapse_ms : 0));
    tables::endpoint_updates::put(context.state, *update);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::serving_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
