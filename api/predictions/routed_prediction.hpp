// A prediction on its way from the request to the component that answers it.
#pragma once

#include <cstdint>

#include "api/predictions/prediction_paths.hpp"
#include "api/predictions/routing.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::api::predictions {

/// On its request's loop; what it refers to outlives it.
struct routed_prediction {
    const runtime::http::server::request& received;
    const prediction_path& path;
    const routed& target;
    std::int64_t begun_us = 0;

    const serving::component_route& component() const noexcept { return *target.component; }
};

}  // namespace herald::api::predictions
