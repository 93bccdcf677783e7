#include "events/log/partition_scan.hpp"

#include <algorithm>
#include <utility>

namespace herald::events::log {

partition_scan::partition_scan(partitioned_log& from, runtime::scheduler& scheduler, topic_partition where,
                               std::int64_t offsets, handlers tell)
    : x_offsets(offsets), x_handlers(std::move(tell)) {
    x_tail.emplace(from, scheduler, std::move(where),
                   tail::handlers{[this](const offset_range& range) { return begin(range); },
                                  [this](const read_batch& batch) { take(batch); },
                                  [this](const error& why) { failed(why); }});
}

std::int64_t partition_scan::begin(const offset_range& range) {
    x_has_begun = true;
    x_range = range;
    x_from = std::max(range.first, x_offsets > range.next ? 0 : range.next - x_offsets);
    const std::int64_t from = x_from;
    if (range.first >= range.next) finish(true);
    return from;
}

void partition_scan::take(const read_batch& batch) {
    if (!batch.records.empty()) x_handlers.found(batch.records);
    const bool is_last_seen = !batch.records.empty() && batch.records.back().offset >= x_range.next - 1;
    // In a compacted partition the last record may have left a hole: then only the log knows the end.
    if (is_last_seen || batch.at_end) finish(x_from == x_range.first);
}

void partition_scan::failed(const error& why) {
    if (!x_has_begun || why.code != error_code::unavailable) finish(why);
}

void partition_scan::finish(result<bool> outcome) {
    const auto done = std::exchange(x_handlers.done, nullptr);
    x_tail.reset();
    done(std::move(outcome));
}

}  // namespace herald::events::log
