// What a replay sends, in order, a slice at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/deliveries.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::deliveries {

struct replay_item {
    schemas::event_for_webhook what;
    std::int64_t time_event_ms = 0;
    std::optional<schemas::delivery_row> known;  // what the history knows of it
};

struct replay_slice {
    std::vector<replay_item> items;
    std::string cursor;  // where to go on
    bool is_at_end = false;
};

/// At most `items_max` items behind the cursor (empty: from the beginning), of no more than `looked_at_max`
/// events or deliveries.
replay_slice next_of_replay(const registry::state::state_view&, const delivery_history&,
                            const schemas::replay&, const std::string& cursor, std::size_t items_max,
                            std::size_t looked_at_max);

}  // namespace herald::storage::deliveries
