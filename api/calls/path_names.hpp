// Which parameters of paths hold names; all others hold ids, which are numbers.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace herald::api::calls {

constexpr std::array<std::string_view, 8> path_names{"email", "key",    "model",           "name",
                                                     "path",  "signed", "version_or_name", "workspace"};

constexpr bool is_name(std::string_view parameter) {
    return std::find(path_names.begin(), path_names.end(), parameter) != path_names.end();
}

}  // namespace herald::api::calls
