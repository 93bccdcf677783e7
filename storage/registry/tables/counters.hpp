// The counters of apply, by name.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

class counters final {
  public:
    /// 0 for a counter that was never written.
    static std::uint64_t value(const state::state_view&, std::string_view name);
    static void put(state::state_changes&, std::string_view name, std::uint64_t value);
};

}  // namespace herald::storage::registry::tables
