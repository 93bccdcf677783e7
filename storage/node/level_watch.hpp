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
    /// advertised for limits::level_advertised_ms, silent ones too until they are forgotten, but none that
    /// has taken its leave. Nothing when that is in force, or for a node that does not publish: whoever takes
    /// the claim counts from then on. Again after a minute if it came to nothing.
    std::optional<std::uint32_t> look(const applied_state&, bool publishes, std::int64_t now_ms);

  private:
    std::uint32_t x_common = 0;  // advertised by all nodes; 0: nothing to raise to
    std::int64_t x_since_ms = 0;
};

}  // namespace herald::storage::node
