// The TOML file given with --config: the same options under the same names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/error.hpp"

namespace herald::program {

/// The value of each option in the file, in the command line's form; an empty list is the empty value.
/// Errors: invalid_argument naming the file and why it cannot be read, the line that is not valid TOML, a key
/// that is not an option of any verb, or a value of a kind that the option does not take.
result<std::map<std::string, std::vector<std::string>>> read_options_file(const std::string& path);

}  // namespace herald::program
