#include "storage/registry/find/serving_nodes.hpp"

#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::storage::registry::find {
namespace {

/// A node is named once, with the latest time of its processes. Nobody waits for one that was replaced: it
/// cannot say any more what it knows.
void add_replaced(const state::state_view& state, std::uint64_t offset, std::int64_t now_ms,
                  std::vector<unconfirmed_node>& nodes) {
    const auto add = [&](const std::string& name, std::int64_t until_ms) {
        const auto place = std::ranges::lower_bound(nodes, name, {}, &unconfirmed_node::node);
        if (place != nodes.end() && place->node == name)
            place->serves_until_ms = std::max(place->serves_until_ms, until_ms);
        else
            nodes.insert(place, {name, until_ms, false});
    };
    tables::replaced_processes::each(state, [&](const schemas::replaced_processes_row& row) {
        for (const schemas::replaced_process& each : row.processes)
            if (each.applied_offset < offset && each.serves_until_ms > now_ms)
                add(row.node, each.serves_until_ms);
        return true;
    });
}

}  // namespace

bool is_any_serving(const state::state_view& state) {
    const auto position = tables::positions::find(state);
    bool is_one = false;
    tables::nodes::each(state, [&](const schemas::node_row& node) {
        is_one = position && node.serves_predictions && node.boot != schemas::uuid{} &&
                 position->time_ms - node.last_heartbeat_ms <= limits::node_contact_ms;
        return !is_one;
    });
    return is_one;
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
    add_replaced(state, offset, position->time_ms, nodes);
    return nodes;
}

}  // namespace herald::storage::registry::find
