// What the handlers of models, versions and artifacts need besides their calls.
#pragma once

#include "api/calls/transfer_places.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/deliveries/delivery_history.hpp"

namespace herald::api::registry {

/// As calls::services.
struct services {
    storage::artifacts::artifact_store& artifacts;
    calls::artifact_transfers& transfers;
    storage::deliveries::delivery_history& deliveries;
};

}  // namespace herald::api::registry
