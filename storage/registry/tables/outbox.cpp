#include "storage/registry/tables/outbox.hpp"

#include <vector>

#include "runtime/assert.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

key_of partition_key(table which, const output_partition& where) {
    return key_of(which).ended_text(where.topic).number(where.partition);
}

std::string event_key(const output_partition& where, std::uint64_t sequence) {
    return partition_key(table::outbox, where).number(sequence);
}

std::string by_time_key(std::int64_t time_ms, std::string_view of_event) {
    return key_of(table::outbox_by_time).number(static_cast<std::uint64_t>(time_ms)).text(of_event);
}

std::string id_key(std::string_view event) { return key_of(table::outbox_of_event).text(event); }

/// The index entries of an event that stands under this key.
void put_entries(state::state_changes& state, const std::string& key, const schemas::event& event) {
    put_row(state, by_time_key(event.time_ms, key),
            schemas::event_summary{event.workspace_id, event.type, event.resource_type, event.id});
    state.put(id_key(event.id), key);
}

constexpr char of_generation = '/';  // behind its number; no topic's name has one

/// What the keys of an event and of its partition's sequences contain after their letters.
struct place {
    output_partition partition;
    std::uint64_t sequence = 0;  // of an event
};
place place_in(std::string_view key) {
    const std::size_t topic_end = key.find('\0');
    HERALD_ASSERT(topic_end != key.npos && key.size() >= topic_end + 9);
    const std::string_view numbers = key.substr(topic_end + 1);
    place found{{std::string(key.substr(1, topic_end - 1)), schemas::read_big_endian(numbers)}};
    if (numbers.size() == 16) found.sequence = schemas::read_big_endian(numbers.substr(8));
    return found;
}

std::string resource_key(schemas::event_type type, schemas::resource_type resource, std::string_view id) {
    return key_of(table::resource_sequence)
        .number(static_cast<std::uint64_t>(type))
        .number(static_cast<std::uint64_t>(resource))
        .text(id);
}

std::uint64_t next_number(state::state_changes& state, std::string key) {
    const std::uint64_t next = find_number(state, key).value_or(0) + 1;
    put_number(state, std::move(key), next);
    return next;
}

void each_sequence(const state::state_view& state, table which, const outbox::sequence_visitor& visit) {
    const std::string prefix = key_of(which);
    state.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
        visit(place_in(key).partition, read_number(key, value));
        return true;
    });
}

}  // namespace

void outbox::add(state::state_changes& state, const output_partition& where, schemas::event& event) {
    event.partition_sequence = next_number(state, partition_key(table::outbox_sequence, where));
    event.resource_sequence =
        next_number(state, resource_key(event.type, event.resource_type, event.resource_id));
    const std::string key = event_key(where, event.partition_sequence);
    put_row(state, key, event);
    put_entries(state, key, event);
}

void outbox::forget(state::state_changes& state, schemas::resource_type resource, std::string_view id) {
    for (const schemas::event_kind& kind : schemas::event_kinds) {
        std::string key = resource_key(kind.type, resource, id);
        if (has_row(state, key)) state.erase(std::move(key));
    }
}

std::optional<schemas::event> outbox::find(const state::state_view& state, const output_partition& where,
                                           std::uint64_t sequence) {
    return find_row<schemas::event>(state, event_key(where, sequence));
}

std::optional<schemas::event> outbox::find(const state::state_view& state, std::string_view event_id) {
    std::string key;
    state.read(id_key(event_id), [&](std::string_view value) { key = value; });
    if (key.empty()) return std::nullopt;
    return find_row<schemas::event>(state, key);
}

void outbox::each_from(const state::state_view& state, std::int64_t time_ms, std::string_view after,
                       const summary_visitor& visit) {
    const std::string prefix = key_of(table::outbox_by_time);
    const std::string from =
        after.empty() ? std::string(key_of(table::outbox_by_time).number(static_cast<std::uint64_t>(time_ms)))
                      : std::string(key_of(table::outbox_by_time).ended_text(after));
    state.scan(prefix, from, [&](std::string_view key, std::string_view row) {
        return visit({decode_row<schemas::event_summary>(key, row),
                      static_cast<std::int64_t>(number_in_key(key)), key.substr(1)});
    });
}

void outbox::each_of(const state::state_view& state, const output_partition& where, std::uint64_t from,
                     const event_visitor& visit) {
    const std::string prefix = partition_key(table::outbox, where);
    state.scan(prefix, event_key(where, from), [&](std::string_view key, std::string_view bytes) {
        const auto event = decode_row<schemas::event>(key, bytes);
        if (event.partition_sequence != place_in(key).sequence)
            throw state::state_corrupt{"an event stands under the sequence of another"};
        return visit(event, bytes);
    });
}

void outbox::each_last(const state::state_view& state, const sequence_visitor& visit) {
    each_sequence(state, table::outbox_sequence, visit);
}

void outbox::each_published(const state::state_view& state, const sequence_visitor& visit) {
    each_sequence(state, table::outbox_published, visit);
}

std::uint64_t outbox::published(const state::state_view& state, const output_partition& where) {
    return find_number(state, partition_key(table::outbox_published, where)).value_or(0);
}

void outbox::put_published(state::state_changes& state, const output_partition& where,
                           std::uint64_t sequence) {
    if (published(state, where) < sequence)
        put_number(state, partition_key(table::outbox_published, where), sequence);
}

bool outbox::is_of_earlier(std::string_view key) noexcept {
    return !key.empty() && key.front() == static_cast<char>(table::outbox) &&
           key.substr(0, key.find('\0')).find(of_generation) != key.npos;
}

std::optional<std::string> outbox::earlier_key(std::string_view key, std::string_view row,
                                               std::uint32_t generation) {
    if (decode_row<schemas::event>(key, row).audience.empty()) return std::nullopt;
    return std::string(1, key.front()) + std::to_string(generation) + of_generation +
           std::string(key.substr(1));
}

void outbox::put_earlier(state::state_changes& state, const std::string& key, const std::string& row) {
    const place where = place_in(key);
    state.put(key, row);
    put_entries(state, key, decode_row<schemas::event>(key, row));
    put_published(state, where.partition, where.sequence);
}

std::optional<std::string> outbox::trim(state::state_changes& state, std::int64_t until_ms,
                                        std::string_view after, std::size_t events_max) {
    const std::string prefix = key_of(table::outbox_by_time);
    const std::string from = after.empty() ? std::string() : key_of(table::outbox_by_time).ended_text(after);
    std::vector<std::pair<std::string, schemas::event_id>> old;
    state.scan(prefix, from, [&](std::string_view key, std::string_view row) {
        if (static_cast<std::int64_t>(number_in_key(key)) > until_ms) return false;
        old.emplace_back(key, decode_row<schemas::event_summary>(key, row).id);
        return old.size() < events_max;
    });
    for (const auto& [by_time, event] : old) {
        const std::string key = by_time.substr(9);
        const place of_event = place_in(key);
        if (of_event.sequence > published(state, of_event.partition)) continue;
        state.erase(key);
        state.erase(by_time);
        if (const std::string by_id = id_key(event); has_row(state, by_id)) state.erase(by_id);
    }
    if (old.size() < events_max) return std::nullopt;
    return old.back().first.substr(1);
}

}  // namespace herald::storage::registry::tables
