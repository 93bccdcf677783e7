// When the level in force may be raised without an operator (design.md §1 "Levels"); used by the node that
// holds the claim "publisher".
#pragma once

#include <cstdint>
#include <optional>

#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// Pure but for what it remembers. One thread.
class level_watch {
  public:
    /// The level to ask for (RAISE_LEVEL) at `now_ms`, a steady clock: the highest that all nodes have
    /// advertised for limits::level_advertised_ms, including silent ones until they are forgotten, but not
    /// nodes that said that they stop. Nothing when that level is in force, or on a node that does not
    /// publish: the next holder of the claim counts anew. Asks again after a minute if the level was not
    /// raised.
    std::optional<std::uint32_t> look(const applied_state&, bool publishes, std::int64_t now_ms);

  private:
    std::uint32_t x_common = 0;  // advertised by all nodes; 0: nothing to raise to
    std::int64_t x_since_ms = 0;
};

}  // namespace herald::storage::node
