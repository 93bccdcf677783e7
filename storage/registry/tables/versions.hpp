// Model versions; found by id, by name in a model, by model, and in lists (lists.hpp).
#pragma once

#include <string_view>

#include "schemas/registry.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::model_version, schemas::version_id>;

class versions final : public keyed_table<schemas::model_version, schemas::version_id> {
  public:
    static std::optional<schemas::version_id> named(const state::state_view&, schemas::model_id,
                                                    std::string_view name);
    /// The model's versions by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::model_id, schemas::version_id from,
                        const visitor<schemas::version_id>&);
    /// By descending id, those before `before` (0: from the last).
    static void each_back_of(const state::state_view&, schemas::model_id, schemas::version_id before,
                             const visitor<schemas::version_id>&);
    /// The names of the model's versions after this one in that order (none: all).
    static void each_name(const state::state_view&, schemas::model_id, name_order,
                          const std::optional<std::string>& after, const name_visitor<schemas::version_id>&);
};

}  // namespace herald::storage::registry::tables
