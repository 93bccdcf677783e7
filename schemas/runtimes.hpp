// What runs models: the names of engines, in builds, heartbeats and metrics.
#pragma once

#include <string_view>

namespace herald::schemas::runtimes {

// Which of them is a build's, the rule of create_build decides.
inline constexpr std::string_view onnx = "onnx";
inline constexpr std::string_view upstream = "upstream";

}  // namespace herald::schemas::runtimes
