// What a node learns from the other nodes' heartbeats (design.md §1 "Heartbeat"). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/nodes.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// The other nodes that were heard within limits::claim_lapse_ms of log time and have not said that they
/// stop.
std::vector<std::string> live_nodes(const applied_state&, std::string_view but_not);

/// The nodes that advertise less than `level` and have not said that they stop; silent nodes are included
/// until they are forgotten (limits::node_row_kept_ms).
std::vector<schemas::node_row> nodes_below(const applied_state&, std::uint32_t level);

/// Whether the node that holds a claim has fallen silent, or restarted without it.
bool is_lapsed(const applied_state&, const schemas::claim_row&);

}  // namespace herald::storage::node
