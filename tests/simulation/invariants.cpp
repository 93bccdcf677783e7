#include "tests/simulation/invariants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/simulation/world.hpp"
#include "workers/delivery_tracker.hpp"
#include "workers/event_position.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

constexpr std::int64_t day_ms = 24ll * 3'600'000;
constexpr std::size_t heartbeats_alone_max = 60;  // in minutes with some starts and timers; 20 were seen
constexpr std::size_t hops_max = 200;             // in days of trouble; 65 were seen

void require(bool holds, const std::string& sentence) {
    if (!holds) throw rule_broken{sentence};
}

std::map<std::string, std::string> rows_of(const storage::registry::state::state_store& store) {
    std::map<std::string, std::string> rows;
    store.view()->scan("", "", [&](std::string_view key, std::string_view value) {
        rows.emplace(key, value);
        return true;
    });
    return rows;
}

std::string name_of(const operation& wish) {
    return "operation " + std::to_string(static_cast<unsigned>(wish.what.type)) +
           (wish.what.idempotency_key.empty() ? " without a key" : " " + wish.what.idempotency_key);
}

std::string name_of(const schemas::event& event) {
    return std::string(schemas::name_of(event.type)) + " " + event.id + " (offset " +
           std::to_string(event.offset) + ", sequence " + std::to_string(event.partition_sequence) + ")";
}

}  // namespace

void check_nodes_agree(const reference& truth, const agreement& agreed,
                       const std::vector<std::unique_ptr<api_node>>& nodes) {
    for (const auto& [offset, hash] : agreed.hashes()) {
        const auto found = truth.hashes().find(offset);
        require(found != truth.hashes().end() && found->second == hash,
                "a node had another hash after offset " + std::to_string(offset) +
                    " than the log gives (invariant 7)");
    }
    const auto rows = rows_of(truth.store());
    for (const auto& node : nodes) {
        require(node->next_offset() == truth.next_offset(),
                "a node did not reach the end of the log in time (invariant 12)");
        require(rows_of(node->store()) == rows, "a node's rows differ from what the log gives (invariant 7)");
    }
}

namespace {

/// The times at which something was decided under the operation's key are a day apart: within a day the first
/// decision counts.
void check_times(const operation& wish, const reference& truth, const std::set<std::uint64_t>& decided) {
    std::optional<std::int64_t> last_ms;
    for (const std::uint64_t offset : decided) {
        const std::int64_t now_ms = truth.time_ms(offset);
        require(!last_ms || (!wish.what.idempotency_key.empty() && now_ms - *last_ms >= day_ms),
                name_of(wish) + " was decided twice within 24 h (invariants 1, 2)");
        last_ms = now_ms;
    }
}

void check_success(const operation& wish, const reference& truth, const schemas::commands::outcome& answer) {
    const auto there = truth.at(answer.offset);
    require(there && there->outcome.code == 0 && there->outcome.body == answer.body,
            name_of(wish) + " was answered with success, which the log does not bear out (invariant 1)");
    require(std::ranges::find(wish.commands, *there->command_id) != wish.commands.end(),
            name_of(wish) + " was answered with what came of another request (invariant 1)");
}

}  // namespace

void check_answers(const reference& truth, const std::deque<operation>& history, bool with_key_only) {
    for (const operation& wish : history) {
        const bool has_key = !wish.what.idempotency_key.empty();
        if (with_key_only && !has_key) continue;
        std::set<std::uint64_t> decided;  // offsets
        for (const schemas::uuid& command : wish.commands)
            for (const std::uint64_t offset : truth.effects(command)) decided.insert(offset);
        std::map<std::uint64_t, schemas::commands::outcome> answers;
        for (const reply& heard : wish.replies) {
            const bool is_final = heard.what == reply::kind::answered && heard.outcome.offset != 0;
            if (is_final) {
                const auto& first = answers.try_emplace(heard.outcome.offset, heard.outcome).first->second;
                require(first.code == heard.outcome.code && first.body == heard.outcome.body,
                        name_of(wish) + " was answered in two ways (invariant 1)");
                decided.insert(heard.outcome.offset);
                if (heard.outcome.code == 0) check_success(wish, truth, heard.outcome);
                continue;
            }
            // With a key, 503 leaves the result open. So does 401 with a key that was requested but not yet
            // known to exist: a second copy may be applied once it does. Every other refusal is final.
            const bool may_count_later =
                heard.what == reply::kind::unavailable ||
                heard.outcome.code == static_cast<std::uint32_t>(error_code::unavailable) ||
                heard.outcome.code == static_cast<std::uint32_t>(error_code::unauthenticated);
            if (heard.what == reply::kind::unknown || (may_count_later && has_key)) continue;
            require(truth.effects(heard.command).empty(),
                    name_of(wish) + " was refused and took effect (invariant 2)");
        }
        for (const auto& [offset, answer] : answers)
            require(answer.code == 0 || !truth.took_effect(offset),
                    name_of(wish) + " was refused and took effect (invariant 2)");
        check_times(wish, truth, decided);
    }
}

void check_heartbeats(events::log::partitioned_log& log) {
    std::size_t beats = 0;
    for (const events::log::record& record :
         reference::read_all(log, {std::string(events::log::topic::commands), 0})) {
        const auto command = schemas::commands::open_envelope(record.value.value_or(""));
        beats += command && command->type == schemas::commands::node_heartbeat::type ? 1 : 0;
    }
    require(beats <= heartbeats_alone_max,
            "a node that is alone spoke " + std::to_string(beats) + " times (invariant 12)");
}

void check_causes(const reference& truth) {
    std::multimap<std::uint64_t, expected_event> expected;
    for (const expected_event& one : truth.expected()) expected.emplace(one.offset, one);
    std::set<std::string> ids;
    for (const schemas::event& event : truth.outbox()) {
        require(ids.insert(event.id).second, name_of(event) + ": the id was given out twice (invariant 3)");
        std::set<std::uint64_t> hearers;
        for (const schemas::audience_member& member : event.audience) hearers.insert(member.webhook_id.value);
        require(hearers == truth.audience(event.offset, event.type, event.resource_type),
                name_of(event) + " has another audience than the webhooks at its offset (invariant 5)");
        if (event.type != schemas::event_type::promote && event.type != schemas::event_type::request_scan)
            continue;
        const auto cause = expected.find(event.offset);
        require(cause != expected.end() && cause->second.type == event.type &&
                    cause->second.resource_id == event.resource_id,
                name_of(event) + " has no cause (invariant 3)");
        expected.erase(cause);
    }
    require(expected.empty(), "a committed promotion or scan request has no event (invariant 3)");
}

void check_event_topics(const reference& truth, events::log::partitioned_log& log) {
    std::map<events::log::topic_partition, std::map<std::uint64_t, std::string>> outbox;
    const auto partitions = truth.event_partitions();
    for (const schemas::event& event : truth.outbox()) {
        const events::log::topic_partition where{std::string(events::topic_of(event.type)),
                                                 events::partition_of(event.resource_id, partitions)};
        outbox[where][event.partition_sequence] = schemas::encode(event);
    }
    for (const std::string_view topic : events::event_topics) {
        for (std::int32_t partition = 0; partition < static_cast<std::int32_t>(partitions); ++partition) {
            const events::log::topic_partition where{std::string(topic), partition};
            const std::string place = where.topic + "/" + std::to_string(partition);
            const auto& wanted = outbox[where];
            std::uint64_t highest = 0;
            for (const events::log::record& record : reference::read_all(log, where)) {
                const auto event = schemas::decode<schemas::event>(record.value.value_or(""));
                require(event.has_value(), place + " holds a record that is no event");
                if (event->generation != truth.generation()) continue;
                require(event->partition_sequence <= highest + 1,
                        place + ": sequence " + std::to_string(event->partition_sequence) + " came when " +
                            std::to_string(highest) + " was the highest: a row was left out (invariant 4)");
                highest = std::max(highest, event->partition_sequence);
                const auto row = wanted.find(event->partition_sequence);
                require(row != wanted.end() && row->second == *record.value,
                        place + " holds an event that is not in the outbox (invariant 3)");
            }
            require(highest == wanted.size(), place + ": " + std::to_string(wanted.size()) +
                                                  " rows of the outbox, but only " + std::to_string(highest) +
                                                  " are published (invariants 4, 12)");
        }
    }
}

std::optional<std::string> undelivered(const reference& truth, events::log::partitioned_log& log,
                                       const receivers& reached) {
    std::set<receivers::pair> dead;
    for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
        for (const events::log::record& record :
             reference::read_all(log, {std::string(events::log::topic::dead), partition})) {
            const auto delivery = schemas::decode<schemas::delivery>(record.value.value_or(""));
            if (delivery && !delivery->reason.empty())
                dead.emplace(delivery->event.id, delivery->webhook_id.value);
        }
    for (const schemas::event& event : truth.outbox()) {
        for (const schemas::audience_member& member : event.audience) {
            const receivers::pair pair{event.id, member.webhook_id.value};
            const auto seen = reached.all().find(pair);
            const bool settled = member.held || (seen != reached.all().end() && seen->second.received) ||
                                 dead.contains(pair) || truth.was_deleted(pair.second);
            if (!settled) return name_of(event) + " at webhook " + std::to_string(pair.second);
        }
    }
    return std::nullopt;
}

namespace {

/// A delivery is put off only a limited number of times, whatever the clocks do.
void check_hops(events::log::partitioned_log& log) {
    std::map<receivers::pair, std::size_t> hops;
    for (const workers::retry_tier& tier : workers::retry_tiers)
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            for (const events::log::record& record :
                 reference::read_all(log, {std::string(tier.topic), partition})) {
                const auto delivery = schemas::decode<schemas::delivery>(record.value.value_or(""));
                require(delivery.has_value(), "a retry topic holds a record that is no delivery");
                const std::size_t count = ++hops[{delivery->event.id, delivery->webhook_id.value}];
                require(count <= hops_max, name_of(delivery->event) + " was put off over " +
                                               std::to_string(hops_max) + " times (invariant 11)");
            }
}

}  // namespace

void check_deliveries(const reference& truth, events::log::partitioned_log& log, const receivers& reached) {
    const auto missing = undelivered(truth, log, reached);
    require(!missing, missing.value_or("") + " was neither received nor dead (invariant 5)");
    check_hops(log);
    std::map<receivers::pair, std::uint64_t> wanted;  // with the event's offset
    for (const schemas::event& event : truth.outbox())
        for (const schemas::audience_member& member : event.audience)
            wanted.emplace(receivers::pair{event.id, member.webhook_id.value}, event.offset);
    for (const auto& [pair, history] : reached.all()) {
        const std::string name =
            "event " + pair.first + " was sent to webhook " + std::to_string(pair.second);
        const auto found = wanted.find(pair);
        require(found != wanted.end(), name + ", which is not in its audience (invariant 5)");
        for (const std::string& place : history.places)
            require(truth.left_at(place) > found->second,
                    name + " at " + place + ", which it had left before (invariant 5)");
    }
}

void check_position(const events::log::memory::memory_broker& broker,
                    const events::log::topic_partition& where, std::int64_t next_offset,
                    const std::string& metadata) {
    workers::event_position highest;
    const workers::progress done = workers::read_progress({next_offset, metadata});
    for (const events::log::record& record : broker.records(where)) {
        if (record.offset >= done.known_until) break;
        const auto event = schemas::decode<schemas::event>(record.value.value_or(""));
        if (event)
            highest =
                std::max(highest, workers::event_position{event->generation, event->partition_sequence});
    }
    require(workers::position_from_text(done.position) == highest,
            where.topic + "/" + std::to_string(where.partition) + ": a consumer is at " + metadata +
                ", but its group had " + workers::to_text(highest) +
                " already: it took a repeat for new (invariant 4)");
}

void check_subscribers(const reference& truth, events::log::partitioned_log& log) {
    std::map<std::string, std::string> content;
    for (const events::log::record& record :
         reference::read_all(log, {std::string(events::log::topic::subscribers), 0})) {
        content.erase(record.key);
        if (record.value) content[record.key] = *record.value;
    }
    std::uint64_t newest = 0;
    std::size_t rows = 0;
    const auto view = truth.store().view();
    using storage::registry::tables::webhooks;
    webhooks::each_change(*view, 0, [&](const webhooks::change& change) {
        newest = change.offset;
        return true;
    });
    webhooks::each(*view, [&](const schemas::webhook& hook) {
        const auto found = content.find(events::subscriber_key(hook.id));
        const auto row = found == content.end()
                             ? std::nullopt
                             : std::optional(schemas::decode<schemas::subscriber>(found->second));
        require(row && *row && (*row)->revision == hook.revision && (*row)->settings == hook.settings,
                "`subscribers` lacks webhook " + std::to_string(hook.id.value) + " as it is (invariant 6)");
        ++rows;
        return true;
    });
    const auto head =
        schemas::decode<schemas::subscribers_head>(content[std::string(events::subscribers_head_key)]);
    require(head && events::reaches(*head, truth.generation(), newest),
            "the head of `subscribers` does not reach the newest change (invariant 12)");
    require(content.size() == rows + 1, "`subscribers` holds a webhook that was deleted (invariant 6)");
}

}  // namespace herald::test
