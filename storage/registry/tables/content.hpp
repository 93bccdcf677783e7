// The rows of a state that outlive its log: a backup carries them into another log. And their digest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/restoring.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

class content final {
  public:
    /// SHA-256 over the rows that mean the same in whichever log they stand: equal before a backup and after
    /// its restore (herald state-hash --content). Left out: what names the log or a place in it
    /// (installation, level, position, outbox, changes and revisions of webhooks), nodes and claims, stored
    /// outcomes, timers, and the audit.
    static std::string digest(const state::state_view&);

    /// The rows that a backup carries, in order of table: the content, stored outcomes, timers, the audit,
    /// and the events of the outbox that anybody was to hear, under the keys that they have in the next log.
    /// The visitor returns false to stop.
    static void each_carried(const state::state_view&, const state::row_visitor&);
    /// Whether a row with this key may be carried.
    static bool is_carried(std::string_view key) noexcept;
    /// Writes a carried row. `offset` is the command's: the revision of a webhook begins there, so that the
    /// publisher publishes it and every later change has a higher one.
    static void put_carried(state::state_changes&, const schemas::carried_row&, std::uint64_t offset);
    /// SHA-256(the digest before ‖ the rows).
    static std::string digest_after(const std::string& before, const std::vector<schemas::carried_row>&);
};

}  // namespace herald::storage::registry::tables
