// The version of this program: CMakeLists.txt's project(herald VERSION …) is its one place. The commit is the
// program's own (program/options/build_commit.hpp): a library that knew it would be another one after each
// commit.
#pragma once

#include <string_view>

namespace herald::runtime {

/// For example "0.9.0".
std::string_view version();

}  // namespace herald::runtime
