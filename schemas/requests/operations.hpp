// Bodies about the installation (wire.md §7).
#pragma once

#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

/// A body that does not mention a flag does not switch it off.
struct set_feature_flag {
    std::optional<bool> enabled;
    std::string content;

    static constexpr std::array<std::string_view, 1> required{"enabled"};
    static constexpr std::string_view example = R"({"enabled":false})";
    HERALD_DESCRIBE(enabled, content);
};

}  // namespace herald::schemas::requests
