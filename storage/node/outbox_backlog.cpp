#include "storage/node/outbox_backlog.hpp"

#include <algorithm>
#include <map>

#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::node {
namespace {

using registry::state::state_view;
using registry::tables::outbox;
using registry::tables::output_partition;

using sequences = std::map<output_partition, std::uint64_t>;

/// How far each partition is published.
sequences published_of(const state_view& state, const std::vector<schemas::published_position>& known) {
    sequences published;
    outbox::each_published(state, [&](const output_partition& where, std::uint64_t sequence) {
        published.emplace(where, sequence);
    });
    for (const schemas::published_position& each : known) {
        std::uint64_t& sequence = published[{each.topic, each.partition}];
        sequence = std::max(sequence, each.sequence);
    }
    return published;
}

}  // namespace

outbox_backlog backlog_of(const state_view& state, const std::vector<schemas::published_position>& known) {
    const sequences published = published_of(state, known);
    outbox_backlog found;
    sequences oldest;
    outbox::each_last(state, [&](const output_partition& where, std::uint64_t last) {
        const auto entry = published.find(where);
        const std::uint64_t first = (entry == published.end() ? 0 : entry->second) + 1;
        if (first > last) return;
        found.rows += last - first + 1;
        oldest.emplace(where, first);
    });
    for (const auto& [where, sequence] : oldest) {
        const auto event = outbox::find(state, where, sequence);
        if (event) found.oldest_ms = std::min(found.oldest_ms.value_or(event->time_ms), event->time_ms);
    }
    return found;
}

}  // namespace herald::storage::node
