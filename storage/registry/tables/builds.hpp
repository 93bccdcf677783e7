// Builds; found by id, by version and workspace, and in a list of their workspace (lists.hpp).
#pragma once

#include "schemas/deployment.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::build, schemas::build_id>;

class builds final : public keyed_table<schemas::build, schemas::build_id> {
  public:
    /// The version's builds in the workspace by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::version_id, schemas::workspace_id,
                        schemas::build_id from, const visitor<schemas::build_id>&);
    /// The first workspace with id ≥ `from` that has builds of the version.
    static std::optional<schemas::workspace_id> next_workspace(const state::state_view&, schemas::version_id,
                                                               schemas::workspace_id from);
    /// The newest build of the workspace before `before` (0: of all), of whatever version.
    static std::optional<schemas::build_id> newest_of(const state::state_view&, schemas::workspace_id,
                                                      schemas::build_id before);
    /// Those that Herald is to make, by ascending id.
    static void each_unfinished(const state::state_view&, const visitor<schemas::build_id>&);
};

}  // namespace herald::storage::registry::tables
