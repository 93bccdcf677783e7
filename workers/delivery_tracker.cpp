// The window of one partition.
#include "workers/delivery_tracker.hpp"

#include <algorithm>
#include <utility>

#include "runtime/assert.hpp"

namespace herald::workers {

void delivery_tracker::opened(std::int64_t offset, std::size_t parts, std::string metadata) {
    HERALD_ASSERT(offset >= x_next_offset);
    HERALD_ASSERT(x_entries.empty() || offset > x_entries.back().offset);
    x_entries.push_back({offset, parts + 1, std::move(metadata)});
    x_parts_open += parts + 1;
    part_done(offset);  // the part that keeps an entry from being done while it is added
}

void delivery_tracker::part_done(std::int64_t offset) {
    const auto found =
        std::lower_bound(x_entries.begin(), x_entries.end(), offset,
                         [](const entry& one, std::int64_t wanted) { return one.offset < wanted; });
    HERALD_ASSERT(found != x_entries.end() && found->offset == offset && found->parts_open > 0);
    --found->parts_open;
    --x_parts_open;
    while (!x_entries.empty() && x_entries.front().parts_open == 0) {
        x_next_offset = x_entries.front().offset + 1;
        x_metadata = std::move(x_entries.front().metadata);
        x_advanced = true;
        x_entries.pop_front();
    }
}

std::optional<commit_point> delivery_tracker::take_commit() {
    if (!std::exchange(x_advanced, false)) return std::nullopt;
    return commit_point{x_next_offset, x_metadata};
}

}  // namespace herald::workers
