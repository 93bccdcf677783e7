// Suggests a name for an unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/text.hpp"

namespace herald::program {

/// "; did you mean NAME?", or "" when no name is near.
inline std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view nearest = runtime::nearest(word, views);
    return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace herald::program
