// How far behind the publisher is, for metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schemas/nodes.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::node {

struct outbox_backlog {
    std::uint64_t rows = 0;                 // not published yet
    std::optional<std::int64_t> oldest_ms;  // log time of the oldest of them
};

/// `known`: positions that the publisher knows to be published but the state does not have yet. Reads one row
/// for each partition that is behind. Throws state_corrupt.
outbox_backlog backlog_of(const registry::state::state_view&,
                          const std::vector<schemas::published_position>& known);

}  // namespace herald::storage::node
