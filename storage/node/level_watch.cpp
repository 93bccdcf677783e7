#include "storage/node/level_watch.hpp"

#include <algorithm>
#include <utility>

#include "schemas/commands/level.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/membership.hpp"

namespace herald::storage::node {
namespace {

constexpr std::int64_t ask_again_ms = 60'000;

}  // namespace

std::optional<std::uint32_t> level_watch::look(const applied_state& state, bool publishes,
                                               std::int64_t now_ms) {
    std::uint32_t common = publishes ? schemas::commands::newest_level : 0;
    for (const schemas::node_row& node : nodes_below(state, common)) common = std::min(common, node.level);
    if (common <= state.level) common = 0;
    if (std::exchange(x_common, common) != common) x_since_ms = now_ms;
    if (common == 0 || now_ms - x_since_ms < limits::level_advertised_ms) return std::nullopt;
    x_since_ms += ask_again_ms;
    return common;
}

}  // namespace herald::storage::node
