// Registered models; found by id, by name in a workspace, by workspace, and in lists (lists.hpp).
#pragma once

#include <string_view>

#include "schemas/registry.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::registered_model, schemas::model_id>;

class models final : public keyed_table<schemas::registered_model, schemas::model_id> {
  public:
    static std::optional<schemas::model_id> named(const state::state_view&, schemas::workspace_id,
                                                  std::string_view name);
    /// The workspace's models by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::workspace_id, schemas::model_id from,
                        const visitor<schemas::model_id>&);
    /// By descending id, those before `before` (0: from the last).
    static void each_back_of(const state::state_view&, schemas::workspace_id, schemas::model_id before,
                             const visitor<schemas::model_id>&);
    /// The names of the workspace's models after this one in that order (none: all).
    static void each_name(const state::state_view&, schemas::workspace_id, name_order,
                          const std::optional<std::string>& after, const name_visitor<schemas::model_id>&);
};

}  // namespace herald::storage::registry::tables
