// What the registry says of one endpoint, as far as predictions go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::api::serving {

struct route_rows {
    struct component {
        schemas::stage_component said;
        schemas::build build;
        schemas::model_id model;
        std::string model_name;
        std::string version_name;
        std::uint64_t version_number = 0;
        std::string health_path;  // of the version's docker_metadata
    };
    struct stage {
        schemas::endpoint_stage row;
        std::vector<component> components;
        std::vector<schemas::access_token> tokens;
        std::optional<schemas::endpoint_update> update;  // that runs
    };

    schemas::endpoint row;
    schemas::uuid owner_uuid{};
    std::string owner_name;
    std::vector<stage> stages;
};

/// Empty when there is no such endpoint.
std::optional<route_rows> rows_of(const storage::registry::state::state_view&, const schemas::uuid& endpoint);

}  // namespace herald::api::serving
