// The rows of the audit, by sequence, and the head of their chain.
#pragma once

#include <optional>
#include <string>

#include "schemas/audit.hpp"
#include "schemas/deliveries.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

class audit_rows final {
  public:
    /// As of an empty chain when there is none yet.
    static schemas::audit_head head(const state::state_view&);
    static void put_head(state::state_changes&, const schemas::audit_head&);

    static std::optional<schemas::audit_row> find(const state::state_view&, std::uint64_t sequence);
    /// By ascending sequence, beginning at `from` (at least 1).
    static void each(const state::state_view&, std::uint64_t from, const visitor<schemas::audit_row>&);
    static void put(state::state_changes&, const schemas::audit_row&);
    static void erase(state::state_changes&, std::uint64_t sequence);
};

/// The workspace of a row, without reading the rest of the row; none if there is no such row.
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view&, schemas::model_id);
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view&, schemas::version_id);
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view&, schemas::build_id);
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view&, schemas::webhook_id);
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view&, schemas::replay_id);
/// The name of the row with this id, likewise: of a user the username, of a version its name. Empty for a
/// kind whose rows have none, and if there is no such row.
std::string name_of_row(const state::state_view&, std::string_view kind, std::uint64_t id);
/// The version whose history holds the entry, likewise.
std::optional<schemas::version_id> version_of_entry(const state::state_view&, schemas::activity_id);

}  // namespace herald::storage::registry::tables
