// Where an event goes: its type decides the topic, its resource the partition. Pure, and frozen: every node
// must always decide the same, and all events of one resource must stay in one partition.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "events/log/topics.hpp"
#include "runtime/assert.hpp"
#include "schemas/event_kinds.hpp"

namespace herald::events {

/// The topics of the events that apply makes, in the order of schemas::event_topic; GENESIS sets the number
/// of partitions of each (`event_partitions`).
inline constexpr std::array<std::string_view, 3> event_topics{log::topic::promote, log::topic::request_scan,
                                                              log::topic::resource};

constexpr std::string_view topic_of(schemas::event_type type) noexcept {
    return event_topics[static_cast<std::size_t>(schemas::kind_of(type).topic)];
}

/// FNV-1a, 64 bits, modulo `partitions` (> 0).
constexpr std::int32_t partition_of(std::string_view resource_id, std::uint32_t partitions) noexcept {
    HERALD_ASSERT(partitions > 0);
    std::uint64_t hash = 14695981039346656037ull;
    for (const char letter : resource_id) {
        hash ^= static_cast<std::uint8_t>(letter);
        hash *= 1099511628211ull;
    }
    return static_cast<std::int32_t>(hash % partitions);
}

}  // namespace herald::events
