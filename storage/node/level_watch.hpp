// When the level in force may be raised without an operator (design.md §1 "Levels"); used by the node that
// holds the claim "publisher".
#pragma once

#include <cstdint>
#include <optional>

#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// How long every node must have advertised a level before it is put in force. Until then an operator can
/// still roll the upgrade back.
constexpr std::int64_t level_advertised_ms = 10 * 60'000;

/// Pure, apart from what it remembers. One thread.
class level_watch {
  public:
    /// The level to ask for (RAISE_LEVEL) at `now_ms` (steady clock): the highest that all nodes have
    /// advertised for level_advertised_ms. Silent nodes count until they are forgotten; nodes that said
    /// farewell do not. Empty when that level is in force already, or when this node does not publish: a new
    /// holder of the claim counts from when it took it. A request without effect is repeated after a minute.
    std::optional<std::uint32_t> look(const applied_state&, bool publishes, std::int64_t now_ms);

  private:
    std::uint32_t x_common = 0;  // advertised by all nodes; 0: nothing to raise to
    std::int64_t x_since_ms = 0;
};

}  // namespace herald::storage::node
