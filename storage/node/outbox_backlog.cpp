#include "storage/node/outbox_backlog.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "schemas/binary.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::node {
namespace {

using registry::state::state_corrupt;
using registry::state::state_view;
using registry::tables::key_of;
using registry::tables::table;

/// The key of the same output partition in another table.
std::string in_table(table which, std::string key) {
    key.front() = static_cast<char>(which);
    return key;
}

/// How far each partition is published, by its key in table::outbox_published.
std::map<std::string, std::uint64_t> published_of(const state_view& state,
                                                  const std::vector<schemas::published_position>& known) {
    std::map<std::string, std::uint64_t> published;
    state.scan(key_of(table::outbox_published), {}, [&](std::string_view key, std::string_view value) {
        std::uint64_t number = 0;
        if (!schemas::take_varint(value, number)) throw state_corrupt{"a published position is no number"};
        published.emplace(key, number);
        return true;
    });
    for (const schemas::published_position& each : known) {
        std::uint64_t& number =
            published[key_of(table::outbox_published).ended_text(each.topic).number(each.partition)];
        number = std::max(number, each.sequence);
    }
    return published;
}

}  // namespace

outbox_backlog backlog_of(const state_view& state, const std::vector<schemas::published_position>& known) {
    const auto published = published_of(state, known);
    outbox_backlog found;
    std::vector<std::string> oldest;
    state.scan(key_of(table::outbox_sequence), {}, [&](std::string_view key, std::string_view value) {
        std::uint64_t last = 0;
        if (!schemas::take_varint(value, last)) throw state_corrupt{"a sequence is no number"};
        const auto entry = published.find(in_table(table::outbox_published, std::string(key)));
        const std::uint64_t first = (entry == published.end() ? 0 : entry->second) + 1;
        if (first > last) return true;
        found.rows += last - first + 1;
        oldest.push_back(in_table(table::outbox, std::string(key)));
        schemas::append_big_endian(oldest.back(), first);
        return true;
    });
    for (const std::string& key : oldest) {
        const auto event = registry::tables::find_row<schemas::event>(state, key);
        if (event) found.oldest_ms = std::min(found.oldest_ms.value_or(event->time_ms), event->time_ms);
    }
    return found;
}

}  // namespace herald::storage::node
