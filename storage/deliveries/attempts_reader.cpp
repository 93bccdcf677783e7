#include "storage/deliveries/attempts_reader.hpp"

#include <algorithm>
#include <utility>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"

namespace herald::storage::deliveries {

attempts_reader::attempts_reader(events::log::partitioned_log& log, std::int32_t partitions,
                                 runtime::scheduler& scheduler, delivery_history& history,
                                 std::vector<listener> listeners)
    : x_history(history),
      x_listeners(std::move(listeners)),
      x_ends_missing(static_cast<std::size_t>(partitions)) {
    for (std::int32_t number = 0; number < partitions; ++number) {
        partition& one = x_partitions.emplace_back();
        one.number = number;
        const auto failed = [this, name = std::to_string(number)](const error& why) {
            x_trouble.fails(why.message, name);
        };
        one.records.emplace(
            log, scheduler, events::log::topic_partition{std::string(events::log::topic::attempts), number},
            events::log::tail::handlers{
                [this, &one](const events::log::offset_range& range) { return begin(one, range); },
                [this, &one](const events::log::read_batch& batch) { take(one, batch); }, failed});
    }
}

std::int64_t attempts_reader::begin(partition& from, const events::log::offset_range& range) {
    x_trouble.works(std::to_string(from.number));
    const auto kept = static_cast<std::int64_t>(x_history.next_offset(from.number));
    from.next = std::max(from.next, kept);
    if (from.next < range.first || from.next > range.next) {
        from.next = range.first;
        from.has_gap = true;
    }
    return from.next;
}

void attempts_reader::take(partition& from, const events::log::read_batch& batch) {
    x_trouble.works(std::to_string(from.number));
    if (batch.at_end && !std::exchange(from.has_reached_end, true)) --x_ends_missing;
    if (batch.records.empty()) return;
    if (std::exchange(from.has_gap, false)) x_history.lacks_before(batch.records.front().time_ms);
    std::vector<placed_attempt> read;
    for (const events::log::record& each : batch.records)
        if (auto made = schemas::decode<schemas::attempt>(each.value.value_or("")))
            read.push_back({static_cast<std::uint64_t>(each.offset), *std::move(made)});
    from.next = batch.records.back().offset + 1;
    x_history.keep(from.number, read, static_cast<std::uint64_t>(from.next));
    for (const placed_attempt& each : read)
        for (const listener& tell : x_listeners) tell(each.made);
}

}  // namespace herald::storage::deliveries
