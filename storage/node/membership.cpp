#include "storage/node/membership.hpp"

#include "schemas/commands/limits.hpp"
#include "storage/registry/tables/nodes.hpp"

namespace herald::storage::node {
namespace {

bool is_silent(const applied_state& state, const schemas::node_row& row) {
    return state.position.time_ms - row.last_heartbeat_ms > limits::claim_lapse_ms;
}

}  // namespace

std::vector<std::string> live_nodes(const applied_state& state, std::string_view but_not) {
    std::vector<std::string> live;
    registry::tables::nodes::each(*state.view, [&](const schemas::node_row& row) {
        if (row.node != but_not && row.boot != schemas::uuid{} && !is_silent(state, row))
            live.push_back(row.node);
        return true;
    });
    return live;
}

std::vector<schemas::node_row> nodes_below(const applied_state& state, std::uint32_t level) {
    std::vector<schemas::node_row> below;
    registry::tables::nodes::each(*state.view, [&](const schemas::node_row& row) {
        if (row.boot != schemas::uuid{} && row.level < level) below.push_back(row);
        return true;
    });
    return below;
}

bool is_lapsed(const applied_state& state, const schemas::claim_row& held) {
    const auto holder = registry::tables::nodes::find(*state.view, held.node);
    return !holder || holder->boot != held.boot || is_silent(state, *holder);
}

}  // namespace herald::storage::node
