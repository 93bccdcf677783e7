#include "storage/registry/find/serving_nodes.hpp"

#include "schemas/limits.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::storage::registry::find {

std::vector<unconfirmed_node> unconfirmed_nodes(const state::state_view& state, const schemas::build& build) {
    if (!build.unsafe_scan_id) return {};
    return unconfirmed_nodes(state, build.unsafe_offset);
}

std::vector<unconfirmed_node> unconfirmed_nodes(const state::state_view& state, std::uint64_t offset) {
    std::vector<unconfirmed_node> nodes;
    const auto position = tables::positions::find(state);
    if (!position) return nodes;
    tables::nodes::each(state, [&](const schemas::node_row& node) {
        const bool is_gone = node.boot == schemas::uuid{};  // it has said farewell
        const bool knows = node.applied_offset >= offset;
        const std::int64_t until_ms = node.last_heartbeat_ms + node.isolation_grace_ms;
        if (is_gone || knows || !node.serves_predictions || until_ms <= position->time_ms) return true;
        nodes.push_back(
            {node.node, until_ms, position->time_ms - node.last_heartbeat_ms <= limits::node_contact_ms});
        return true;
    });
    return nodes;
}

}  // namespace herald::storage::registry::find
