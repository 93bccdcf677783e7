// The updates that run, found by id; and which builds are components of which stages.
#pragma once

#include <optional>

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::endpoint_update, schemas::update_id>;

class endpoint_updates final : public keyed_table<schemas::endpoint_update, schemas::update_id> {};

class deployed_builds final {
  public:
    static void put(state::state_changes&, const schemas::build&, schemas::model_id,
                    schemas::endpoint_stage_id);
    static void erase(state::state_changes&, const schemas::build&, schemas::model_id,
                      schemas::endpoint_stage_id);
    /// A stage that has a build of the model, of the version, or of the workspace as a component.
    static std::optional<schemas::endpoint_stage_id> stage_with(const state::state_view&, schemas::model_id);
    static std::optional<schemas::endpoint_stage_id> stage_with(const state::state_view&, schemas::model_id,
                                                                schemas::version_id);
    static std::optional<schemas::endpoint_stage_id> stage_with(const state::state_view&,
                                                                schemas::workspace_id);
    /// The stages from this one on that have the build as a component, by ascending id.
    static void each_stage(const state::state_view&, schemas::build_id, schemas::endpoint_stage_id from,
                           const visitor<schemas::endpoint_stage_id>&);
};

}  // namespace herald::storage::registry::tables
