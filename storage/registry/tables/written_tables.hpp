// Which tables a write to the state touched, for those who wait for a change.
#pragma once

#include <bitset>
#include <string_view>

#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// Whether the row with this key says who may do what: users with their keys and
/// sessions, groups and their members, roles, workspaces.
bool decides_rights(std::string_view key) noexcept;

class written_tables {
  public:
    written_tables() = default;
    explicit written_tables(const state::row_changes&);
    written_tables& operator|=(const written_tables& more) {
        x_letters |= more.x_letters;
        return *this;
    }

    bool has_events() const;
    bool has_webhook_changes() const;
    bool has_claims() const;
    /// What nodes say of themselves.
    bool has_heartbeats() const;

  private:
    std::bitset<256> x_letters;
};

}  // namespace herald::storage::registry::tables
