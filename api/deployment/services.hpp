// What the handlers of builds and endpoints need besides their calls.
#pragma once

#include <functional>
#include <string>

#include "api/calls/transfer_places.hpp"
#include "schemas/endpoints.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::api::deployment {

/// As calls::services.
struct services {
    storage::artifacts::artifact_store& artifacts;
    calls::artifact_transfers& transfers;
    bool has_other_nodes = false;
    /// See registry_node::options::quiesce. May be empty.
    std::function<void(std::function<void()>)> quiesce{};
    /// Why this node has not loaded the build with this batching; empty if it has, if it need not, or if it
    /// has not tried yet. May be empty.
    std::function<std::string(schemas::build_id, const schemas::batching_settings&)> why_not_loaded{};
};

}  // namespace herald::api::deployment
