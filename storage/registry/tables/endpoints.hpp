// Endpoints, found by id, by path, by their name in the v2 protocol and by workspace; their stages, found by
// id and by endpoint.
#pragma once

#include <string>
#include <string_view>

#include "schemas/endpoints.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::endpoint, schemas::uuid>;
extern template class keyed_table<schemas::endpoint_stage, schemas::endpoint_stage_id>;

/// "team.churn" of the path "/team/churn".
std::string v2_name_of(std::string_view path);

class endpoints final : public keyed_table<schemas::endpoint, schemas::uuid> {
  public:
    /// `path` is normalised.
    static std::optional<schemas::uuid> at_path(const state::state_view&, std::string_view path);
    static std::optional<schemas::uuid> with_v2_name(const state::state_view&, std::string_view name);
    /// The workspace's endpoints by ascending id, from `from` on (none: from the first).
    static void each_of(const state::state_view&, schemas::workspace_id,
                        const std::optional<schemas::uuid>& from, const visitor<schemas::uuid>&);
};

class endpoint_stages final : public keyed_table<schemas::endpoint_stage, schemas::endpoint_stage_id> {
  public:
    /// The endpoint's stages by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, const schemas::uuid& endpoint,
                        schemas::endpoint_stage_id from, const visitor<schemas::endpoint_stage_id>&);
};

}  // namespace herald::storage::registry::tables
