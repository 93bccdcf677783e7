#include "tests/simulation/invariants.hpp"

#include <map>
#include <set>
#include <string>

#include "events/event_topic.hpp"
#include "events/subscriber_table.hpp"
#include "events/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/tables.hpp"
#include "tests/simulation/world.hpp"
#include "workers/event_position.hpp"

namespace herald::simulation {
namespace {

void require(bool holds, const std::string& sentence) {
    if (!holds) throw rule_broken{sentence};
}

std::map<std::string, std::string> rows_of(const storage::state_store& store) {
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

std::vector<schemas::event> outbox_of(const reference& truth) {
    std::vector<schemas::event> all;
    truth.store().view()->scan(storage::key_of(storage::table::outbox), "",
                               [&](std::string_view key, std::string_view value) {
                                   all.push_back(storage::decode_row<schemas::event>(key, value));
                                   return true;
                               });
    return all;
}

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

void check_answers(const reference& truth, const std::deque<operation>& history, bool with_key_only) {
    for (const operation& wish : history) {
        if (with_key_only && wish.what.idempotency_key.empty()) continue;
        std::size_t effects = 0;
        for (const schemas::uuid& command : wish.commands) effects += truth.effects(command).size();
        require(effects <= 1,
                name_of(wish) + " took effect " + std::to_string(effects) + " times (invariants 1, 2)");
        std::optional<schemas::outcome> answer;
        for (const reply& heard : wish.replies) {
            const bool too_late = heard.outcome.code == static_cast<std::uint32_t>(error_code::unavailable);
            if (heard.what != reply::kind::answered || too_late) continue;
            require(!answer || (answer->code == heard.outcome.code && answer->body == heard.outcome.body),
                    name_of(wish) + " was answered in two ways (invariant 1)");
            answer = heard.outcome;
            if (heard.outcome.code != 0) {
                require(effects == 0, name_of(wish) + " was refused and took effect (invariant 2)");
                continue;
            }
            const auto there = truth.at(heard.outcome.offset);
            require(
                there && there->outcome.code == 0 && there->outcome.body == heard.outcome.body,
                name_of(wish) + " was answered with success, which the log does not bear out (invariant 1)");
            require(effects == 1,
                    name_of(wish) + " was answered with success and had no effect (invariant 1)");
        }
    }
}

void check_causes(const reference& truth) {
    std::multimap<std::uint64_t, expected_event> expected;
    for (const expected_event& one : truth.expected()) expected.emplace(one.offset, one);
    std::set<std::string> ids;
    for (const schemas::event& event : outbox_of(truth)) {
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

void check_event_topics(const reference& truth, events::log& log) {
    std::map<events::topic_partition, std::map<std::uint64_t, std::string>> outbox;
    const auto partitions = truth.event_partitions();
    for (const schemas::event& event : outbox_of(truth)) {
        const events::topic_partition where{std::string(events::topic_of(event.type)),
                                            events::partition_of(event.resource_id, partitions)};
        outbox[where][event.partition_sequence] = schemas::encode(event);
    }
    for (const std::string_view topic : events::event_topics) {
        for (std::int32_t partition = 0; partition < static_cast<std::int32_t>(partitions); ++partition) {
            const events::topic_partition where{std::string(topic), partition};
            const std::string place = where.topic + "/" + std::to_string(partition);
            const auto& wanted = outbox[where];
            std::uint64_t highest = 0;
            for (const events::record& record : reference::read_all(log, where)) {
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

std::optional<std::string> undelivered(const reference& truth, events::log& log, const receivers& reached) {
    std::set<receivers::pair> dead;
    for (std::int32_t partition = 0; partition < events::partitions_default; ++partition)
        for (const events::record& record :
             reference::read_all(log, {std::string(events::topic::dead), partition})) {
            const auto delivery = schemas::decode<schemas::delivery>(record.value.value_or(""));
            if (delivery && !delivery->reason.empty())
                dead.emplace(delivery->event.id, delivery->webhook_id.value);
        }
    for (const schemas::event& event : outbox_of(truth)) {
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

void check_deliveries(const reference& truth, events::log& log, const receivers& reached) {
    const auto missing = undelivered(truth, log, reached);
    require(!missing, missing.value_or("") + " was neither received nor dead (invariant 5)");
    std::set<receivers::pair> wanted;
    for (const schemas::event& event : outbox_of(truth))
        for (const schemas::audience_member& member : event.audience)
            wanted.emplace(event.id, member.webhook_id.value);
    for (const auto& [pair, history] : reached.all())
        require(wanted.contains(pair), "event " + pair.first + " was sent to webhook " +
                                           std::to_string(pair.second) +
                                           ", which is not in its audience (invariant 5)");
}

void check_position(const events::memory_broker& broker, const events::topic_partition& where,
                    std::int64_t next_offset, const std::string& metadata) {
    workers::event_position highest;
    for (const events::record& record : broker.records(where)) {
        if (record.offset >= next_offset) break;
        const auto event = schemas::decode<schemas::event>(record.value.value_or(""));
        if (event)
            highest =
                std::max(highest, workers::event_position{event->generation, event->partition_sequence});
    }
    require(workers::position_from_text(metadata) == highest,
            where.topic + "/" + std::to_string(where.partition) + ": a consumer is at " + metadata +
                ", but its group had " + workers::to_text(highest) +
                " already: it took a repeat for new (invariant 4)");
}

void check_subscribers(const reference& truth, events::log& log) {
    std::map<std::string, std::string> content;
    for (const events::record& record :
         reference::read_all(log, {std::string(events::topic::subscribers), 0})) {
        content.erase(record.key);
        if (record.value) content[record.key] = *record.value;
    }
    std::uint64_t newest = 0;
    std::size_t rows = 0;
    const auto view = truth.store().view();
    view->scan(storage::key_of(storage::table::webhook_change), "",
               [&](std::string_view key, std::string_view) {
                   newest = storage::number_in_key(key);
                   return true;
               });
    view->scan(
        storage::key_of(storage::table::webhook), "", [&](std::string_view key, std::string_view value) {
            const auto hook = storage::decode_row<schemas::webhook>(key, value);
            const auto found = content.find(events::subscriber_key(hook.id));
            const auto row = found == content.end()
                                 ? std::nullopt
                                 : std::optional(schemas::decode<schemas::subscriber>(found->second));
            require(
                row && *row && (*row)->revision == hook.revision && (*row)->location == hook.location,
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

}  // namespace herald::simulation
