// The table of options. From it follow the command line, the environment (HERALD_…), the file given with
// --config, the help, the names that a wrong one is compared with, and README's table
// (tests/docs/check_options).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/option_values.hpp"

namespace herald::program {

/// What an option is about; a verb takes the options of whole groups (verbs.hpp).
enum class option_group : std::uint8_t {
    file,
    http,
    kafka,
    topics,
    data,
    key_ring,
    node,
    cluster_node,
    clock,
    webhooks,
    deliveries,
    administrator,
    installation,
    state_hash,
    groups,
};

/// Its heading in the help.
std::string_view heading_of(option_group);

struct option {
    std::string name;     // without the two dashes
    std::string operand;  // as the help shows it; empty for flags
    option_group group = option_group::file;
    /// As the operator would say it; empty: as the part has it whose option it is. A verb may have another.
    std::string default_text;
    /// What the help says of a default that cannot be said as a value.
    std::string default_meaning;
    std::string help;
    option_value value;
};

/// Their order is that of the help, and that in which they are checked.
const std::vector<option>& all_options();

/// HERALD_…
std::string environment_name(std::string_view option);

}  // namespace herald::program
