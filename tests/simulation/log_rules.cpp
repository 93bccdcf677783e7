#include "tests/simulation/log_rules.hpp"

#include <algorithm>

#include "schemas/binary.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {
namespace {

using schemas::commands::command_type;
namespace tables = storage::registry::tables;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t ahead_ms_max = 60'000;
constexpr std::int64_t claim_ms = 10'000;
constexpr std::int64_t answers_kept_ms = 24 * hour_ms;
constexpr std::int64_t answers_gone_ms = 26 * hour_ms;  // they are swept by the hour
constexpr std::int64_t scan_ms = 24 * hour_ms;
constexpr std::int64_t silence_ms = 24 * hour_ms;  // then a node is forgotten
constexpr std::int64_t disable_ms = 5 * 24 * hour_ms;

void require(bool holds, const std::string& sentence) {
    if (!holds) throw rule_broken{sentence};
}

std::uint32_t code_of(error_code code) { return static_cast<std::uint32_t>(code); }

}  // namespace

void log_rules::judge(const events::log::record& record,
                      const storage::registry::engine::applied_record& done) {
    x_offset = done.offset;
    x_now = x_state.view();
    const auto command = schemas::commands::open_envelope(record.value.value_or(""));
    const std::string place = "the record at offset " + std::to_string(x_offset);
    const bool is_ours = command && (!x_genesis || (command->log_id == x_genesis->log_id &&
                                                    command->generation == x_genesis->generation));
    if (!is_ours) {
        require(!done.command_id, place + " is no command of this log and took effect (invariant 2)");
        x_now.reset();
        return;
    }
    judge_time(record, *command);
    std::erase_if(x_members, [&](const auto& one) { return x_time_ms - one.second.heard_ms >= silence_ms; });
    const applied what{*command, done, done.outcome.code == 0 && done.outcome.offset == done.offset};
    if (x_time_ms > command->not_after_ms)
        require(!what.took_effect && done.outcome.code != 0,
                place + " took effect after its time was over (invariant 2)");
    else if (command->level > x_level)
        require(!what.took_effect && done.outcome.code != 0,
                place + " took effect above the level in force (invariant 2)");
    else if (is_entitled(what))
        judge_repeat(what);
    judge_timers();
    x_webhooks.clear();
    tables::webhooks::each(*x_now, [&](const schemas::webhook& hook) {
        x_webhooks.emplace(hook.id.value, hook);
        return true;
    });
    x_now.reset();
}

void log_rules::judge_time(const events::log::record& record,
                           const schemas::commands::command_envelope& command) {
    const auto position = tables::positions::find(*x_now);
    const std::string place = "at offset " + std::to_string(x_offset) + " log time ";
    x_senders_ms = std::max(x_senders_ms, command.sender_clock_ms);
    require(position->time_ms >= x_time_ms, place + "goes back (invariant 10)");
    require(position->time_ms <= std::max(x_time_ms, x_senders_ms + ahead_ms_max),
            place + "is over 60 s ahead of every sender (invariant 10)");
    x_time_ms = std::max(x_time_ms, std::min(record.time_ms, command.sender_clock_ms + ahead_ms_max));
    require(position->time_ms == x_time_ms,
            place + "is not what the broker and the sender say (invariant 10)");
}

/// Whether the credential is one of the user's at the command's place in the log.
bool log_rules::is_entitled(const applied& what) {
    const std::uint64_t user = what.command.request.principal.value;
    if (user == 0 || x_credentials[user].contains(what.command.request.credential_hash)) return true;
    require(what.done.outcome.code != 0, "the command at offset " + std::to_string(x_offset) +
                                             " was taken under a key that its user no longer has");
    return false;
}

void log_rules::judge_repeat(const applied& what) {
    const schemas::commands::request_identity& request = what.command.request;
    const schemas::commands::outcome& outcome = what.done.outcome;
    const std::string place =
        "the request " + request.idempotency_key + " at offset " + std::to_string(x_offset);
    const auto name = std::tuple(request.principal.value, request.scope, request.idempotency_key);
    const auto known = request.idempotency_key.empty() ? x_answers.end() : x_answers.find(name);
    if (known != x_answers.end() && x_time_ms - known->second.time_ms < answers_kept_ms) {
        const kept_answer& first = known->second;
        if (first.fingerprint != request.fingerprint)
            return require(outcome.code == code_of(error_code::already_exists) && outcome.offset == 0,
                           place + " is another one under the same key and was not refused (invariant 1)");
        return require(outcome.offset == first.outcome.offset && outcome.code == first.outcome.code &&
                           outcome.body == first.outcome.body,
                       place + " was not answered as the first time (invariant 1)");
    }
    if (outcome.offset != x_offset) {  // the bucket of its hour has not been swept yet
        const bool may_be_kept =
            known != x_answers.end() && x_time_ms - known->second.time_ms < answers_gone_ms;
        return require(may_be_kept, place + " was answered from an outcome that should be gone");
    }
    if (!request.idempotency_key.empty()) x_answers[name] = {x_time_ms, outcome, request.fingerprint};
    switch (what.command.type) {
        case schemas::commands::node_heartbeat::type:
            return judge_heartbeat(what);
        case schemas::commands::claim::type:
            return judge_claim(what);
        case schemas::commands::raise_level::type:
            return judge_raise(what);
        case schemas::commands::webhook_health::type:
            return judge_health(what);
        case schemas::commands::create_transition::type:
            return judge_transition(what);
        case schemas::commands::commit_transition::type:
            return judge_commit(what);
        case schemas::commands::update_version::type:
            return judge_completion(what);
        default:
            if (what.took_effect) learn(what);
    }
}

void log_rules::judge_heartbeat(const applied& what) {
    const auto heartbeat = decoded<schemas::commands::node_heartbeat>(what.command.body);
    const auto known = x_members.find(heartbeat.node);
    const bool is_same = known != x_members.end() && known->second.boot == heartbeat.boot;
    const bool may_follow = known == x_members.end() ||
                            (heartbeat.first && heartbeat.applied_offset >= known->second.boot_offset);
    require(what.took_effect == (is_same || may_follow),
            "the heartbeat of " + heartbeat.node + " at offset " + std::to_string(x_offset) +
                (what.took_effect ? " took the place of a later process"
                                  : " was refused: " + what.done.outcome.message));
    if (!what.took_effect) return;
    member& here = x_members[heartbeat.node];
    if (!is_same) here.boot_offset = x_offset;
    here.boot = heartbeat.last ? schemas::uuid{} : heartbeat.boot;
    here.heard_ms = x_time_ms;
    here.newest_level = heartbeat.newest_level;
    judge_published(heartbeat);
}

void log_rules::judge_published(const schemas::commands::node_heartbeat& heartbeat) {
    const auto held = x_claims.find("publisher");
    const bool is_holder = held != x_claims.end() && held->second.token == heartbeat.publisher_token;
    for (const schemas::published_position& position : heartbeat.published) {
        const tables::output_partition where{position.topic, position.partition};
        std::uint64_t& known = x_published[where];
        if (is_holder) known = std::max(known, position.sequence);
        require(tables::outbox::published(*x_now, where) == known,
                "who does not hold the claim said at offset " + std::to_string(x_offset) +
                    " what is published (invariant 10)");
    }
}

void log_rules::judge_claim(const applied& what) {
    const auto wanted = decoded<schemas::commands::claim>(what.command.body);
    const auto claimant = x_members.find(wanted.node);
    if (claimant != x_members.end() && claimant->second.boot != wanted.boot)
        return require(!what.took_effect, "a process that another has followed got the job " + wanted.job);
    const auto held = x_claims.find(wanted.job);
    const auto holder = held == x_claims.end() ? x_members.end() : x_members.find(held->second.node);
    const auto is_silent = [&](auto node) {
        return node == x_members.end() || x_time_ms - node->second.heard_ms > claim_ms;
    };
    const bool is_free = holder == x_members.end() || holder->second.boot != held->second.boot ||
                         (held->second.node == wanted.node && held->second.boot != wanted.boot) ||
                         (is_silent(holder) && !is_silent(claimant));
    const auto row = decoded<schemas::claim_row>(what.done.outcome.body);
    const bool was_given = row.token == x_offset;
    require(was_given == is_free,
            "the job " + wanted.job +
                (was_given ? " was given to a second node" : " was free and not given") + " at offset " +
                std::to_string(x_offset) + " (invariant 10)");
    x_claims[wanted.job] = row;
}

void log_rules::judge_raise(const applied& what) {
    const auto raise = decoded<schemas::commands::raise_level>(what.command.body);
    const bool is_held_up = std::any_of(x_members.begin(), x_members.end(), [&](const auto& each) {
        const member& node = each.second;
        return node.boot != schemas::uuid{} && x_time_ms - node.heard_ms <= claim_ms &&
               node.newest_level < raise.to;
    });
    require(what.took_effect == (raise.to <= x_level || !is_held_up),
            "the level was " + std::string(what.took_effect ? "" : "not ") + "raised to " +
                std::to_string(raise.to) + " at offset " + std::to_string(x_offset));
    if (what.took_effect) x_level = std::max(x_level, raise.to);
}

void log_rules::judge_health(const applied& what) {
    if (!what.took_effect) return;
    const auto health = decoded<schemas::commands::webhook_health>(what.command.body);
    require(x_claims["webhook-health"].token == health.token && health.token != 0,
            "the health of a webhook was told at offset " + std::to_string(x_offset) +
                " by who does not hold the job (invariant 10)");
    const std::uint64_t id = health.webhook_id.value;
    const auto hook = tables::webhooks::find(*x_now, health.webhook_id);
    const auto before = x_webhooks.find(id);
    if (hook && before != x_webhooks.end() && before->second.revision != health.revision)
        require(hook->failing_since_ms == before->second.failing_since_ms &&
                    (hook->status == before->second.status || is_disable_due(id)),
                "the health of an earlier webhook " + std::to_string(id) + " counted at offset " +
                    std::to_string(x_offset));
    const bool fails =
        hook && hook->status == schemas::webhook_status::enabled && hook->failing_since_ms != 0;
    if (!fails || hook->disable_at_ms == 0) {
        x_disable_at.erase(id);
        return;
    }
    require(hook->disable_at_ms >= hook->failing_since_ms + disable_ms,
            "webhook " + std::to_string(id) + " is to be disabled too early (invariant 10)");
    x_disable_at[id] = hook->disable_at_ms;
}

/// One open transition of a version to each stage.
void log_rules::judge_transition(const applied& what) {
    const auto asked = decoded<schemas::commands::create_transition>(what.command.body);
    const wanted_stage wanted{asked.model_version_id.value, asked.desired_stage};
    const bool is_open = x_open_transitions.contains(wanted);
    const std::string name = "the transition of version " + std::to_string(wanted.version) + " at offset " +
                             std::to_string(x_offset);
    if (!what.took_effect)
        return require(is_open || what.done.outcome.code != code_of(error_code::already_exists),
                       name + " was refused for one that is not open");
    const auto opening = decoded<schemas::activity>(what.done.outcome.body);
    if (opening.transition->state == schemas::transition_state::closed) return;  // it is there already
    require(!is_open, name + " is the second open one to its stage");
    x_transitions[opening.id.value] = wanted;
    x_open_transitions[wanted] = opening.id.value;
}

void log_rules::end_transition(std::uint64_t id) {
    const auto ended = x_transitions.find(id);
    if (ended == x_transitions.end()) return;
    const auto open = x_open_transitions.find(ended->second);
    if (open != x_open_transitions.end() && open->second == id) x_open_transitions.erase(open);
}

/// A promotion in progress ends when its version leaves PRODUCTION.
void log_rules::judge_commit(const applied& what) {
    if (!what.took_effect) return;
    const auto done = decoded<schemas::activity>(what.done.outcome.body);
    const schemas::version_id version = done.model_version_id;
    end_transition(done.transition_id.value);
    if (x_transitions.at(done.transition_id.value).desired == schemas::stage::production) {
        x_promotions[version.value] = tables::versions::find(*x_now, version)->time_updated;
    } else if (x_promotions.erase(version.value) > 0) {
        require(tables::promotions::find(*x_now, version)->status == schemas::promotion_status::failed,
                "the promotion of version " + std::to_string(version.value) +
                    " outlived its leaving PRODUCTION at offset " + std::to_string(x_offset));
    }
}

/// What was read before the commit completes nothing.
void log_rules::judge_completion(const applied& what) {
    const auto update = decoded<schemas::commands::update_version>(what.command.body);
    const auto promoted = x_promotions.find(update.id.value);
    if (update.redirect_metadata.empty() || promoted == x_promotions.end()) return;
    const std::int64_t read_ms = update.time_updated;
    const bool is_late = read_ms != 0 && read_ms < promoted->second;
    require(what.took_effect == !is_late, "the completion of version " + std::to_string(update.id.value) +
                                              " at offset " + std::to_string(x_offset) +
                                              (is_late ? " was read before the commit and taken"
                                                       : " was refused: " + what.done.outcome.message));
    if (is_late) return;
    require(tables::promotions::find(*x_now, update.id)->status == schemas::promotion_status::complete,
            "the completion at offset " + std::to_string(x_offset) + " completed nothing");
    x_promotions.erase(promoted);
}

void log_rules::learn(const applied& what) {
    const std::string& answer = what.done.outcome.body;
    switch (what.command.type) {
        case schemas::commands::genesis::type:
            x_genesis = decoded<schemas::commands::genesis>(what.command.body);
            x_credentials[1] = {x_genesis->admin_key_hash};
            x_level = std::max(x_level, x_genesis->level);
            break;
        case schemas::commands::create_user::type:
            x_credentials[decoded<schemas::user>(answer).id.value] = {
                decoded<schemas::commands::create_user>(what.command.body).key_hash};
            break;
        case schemas::commands::renew_admin_key::type:
            x_credentials[decoded<schemas::user>(answer).id.value] = {
                decoded<schemas::commands::renew_admin_key>(what.command.body).key_hash};
            break;
        case schemas::commands::request_scan::type:
        case schemas::commands::request_version_scan::type: {
            const auto scan = decoded<schemas::scan>(answer);
            if (!scan.id) break;  // the build ended in error: nothing was requested
            end_lost_scans(scan);
            x_open_scans[scan.id.value] = scan.time_created;
            break;
        }
        case schemas::commands::report_scan::type:
            x_open_scans.erase(decoded<schemas::scan>(answer).id.value);
            break;
        case schemas::commands::close_transition::type:
            end_transition(
                decoded<schemas::commands::close_transition>(what.command.body).transition_id.value);
            break;
        case schemas::commands::delete_webhooks::type:
            for (const auto id : decoded<schemas::commands::delete_webhooks>(what.command.body).ids)
                x_disable_at.erase(id.value);
            break;
        default:
            break;
    }
}

/// A build has one scan at a time: a newer one ends the earlier, whose request must have been lost.
void log_rules::end_lost_scans(const schemas::scan& newer) {
    std::erase_if(x_open_scans, [&](const auto& open) {
        const auto earlier = tables::scans::find(*x_now, schemas::scan_id{open.first});
        if (earlier->build_id != newer.build_id) return false;
        require(std::ranges::none_of(earlier->audience,
                                     [](const schemas::scan_listener& each) {
                                         return each.ended == schemas::delivery_end::none;
                                     }),
                "scan " + std::to_string(open.first) + " was replaced while its request could arrive");
        return true;
    });
}

/// Never early, and at the first record with their time, except for the bound of one record.
void log_rules::judge_timers() {
    const bool all_have_fired = tables::timers::first_due_ms(*x_now).value_or(INT64_MAX) > x_time_ms;
    std::size_t rows = 0;
    tables::nodes::each(*x_now, [&](const schemas::node_row& member) {
        require(x_members.contains(member.node) || !all_have_fired,
                "node " + member.node + " was not forgotten in time (invariant 12)");
        ++rows;
        return true;
    });
    require(rows >= x_members.size(), "a node was forgotten too early (invariant 10)");
    judge_scans(all_have_fired);
    judge_webhooks(all_have_fired);
}

void log_rules::judge_scans(bool all_have_fired) {
    for (auto next = x_open_scans.begin(); next != x_open_scans.end();) {
        const auto open = next++;
        const auto scan = tables::scans::find(*x_now, schemas::scan_id{open->first});
        const bool is_over = scan->scan_status != schemas::scan_status::scanning;
        const bool is_due = x_time_ms >= open->second + scan_ms;
        const std::string name = "scan " + std::to_string(open->first);
        require(!is_over || is_due, name + " was given up too early (invariant 10)");
        require(is_over || !is_due || !all_have_fired, name + " was not given up in time (invariant 12)");
        if (is_over) x_open_scans.erase(open);
    }
}

bool log_rules::is_disable_due(std::uint64_t webhook) const {
    const auto planned = x_disable_at.find(webhook);
    return planned != x_disable_at.end() && x_time_ms >= planned->second;
}

void log_rules::judge_webhooks(bool all_have_fired) {
    for (auto next = x_disable_at.begin(); next != x_disable_at.end();) {
        const auto failing = next++;
        const auto hook = tables::webhooks::find(*x_now, schemas::webhook_id{failing->first});
        const bool is_over = hook->status == schemas::webhook_status::disabled;
        if (!is_over && hook->disable_at_ms == 0) {  // at another place it begins anew
            x_disable_at.erase(failing);
            continue;
        }
        const bool is_due = is_disable_due(failing->first);
        const std::string name = "webhook " + std::to_string(failing->first);
        require(!is_over || is_due, name + " was disabled too early (invariant 10)");
        require(is_over || !is_due || !all_have_fired, name + " was not disabled in time (invariant 12)");
        if (is_over) x_disable_at.erase(failing);
    }
}

}  // namespace herald::test
