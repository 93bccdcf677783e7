// Stored outcomes, for repeats: by principal, method and path, and Idempotency-Key; and by the hour in which
// they were decided.
#pragma once

#include <cstdint>
#include <optional>

#include "schemas/commands/envelope.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// The size of some outcomes in the state.
struct kept_amount {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
};

class kept_outcomes final {
  public:
    /// Ignores the fingerprint.
    static std::optional<schemas::commands::outcome> find(const state::state_view&,
                                                          const schemas::commands::request_identity&);
    static kept_amount put(state::state_changes&, const schemas::commands::request_identity&,
                           std::uint64_t hour, const schemas::commands::outcome&);
    /// Erases at most `rows_max` outcomes of an hour.
    static kept_amount erase_of(state::state_changes&, std::uint64_t hour, std::size_t rows_max);
};

}  // namespace herald::storage::registry::tables
