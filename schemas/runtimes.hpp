// What runs models: names of engines, in builds, heartbeats and metrics.
#pragma once

#include <string_view>

#include "schemas/deployment.hpp"

namespace herald::schemas::runtimes {

inline constexpr std::string_view onnx = "onnx";
inline constexpr std::string_view upstream = "upstream";

/// The runtime of a new build; empty: nothing runs it, as its image was made elsewhere. Nobody else decides
/// it.
inline std::string_view runtime_of(const build& made) {
    if (!made.upstream_url.empty()) return upstream;
    if (!made.model_parts.empty()) return onnx;
    return {};
}

}  // namespace herald::schemas::runtimes
