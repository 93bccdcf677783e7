// The table of options. The command line, the environment (HERALD_…), the file given with --config, the help,
// the suggestions for wrong names, and docs/reference/configuration.md all follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/options/option_values.hpp"

namespace herald::program {

/// The subject of an option; a verb takes the options of whole groups (program/verbs/verbs.hpp).
enum class option_group : std::uint8_t {
    file,
    http,
    kafka,
    topics,
    data,
    key_ring,
    node,
    cluster_node,
    cluster_worker,
    clock,
    webhooks,
    deliveries,
    predictions,
    administrator,
    installation,
    state_hash,
    restoring,
    from_backup,
    artifacts,
    audit,
    groups,
};

/// The group's heading in the help.
std::string_view heading_of(option_group);

struct option {
    std::string name;     // without the two dashes
    std::string operand;  // as shown in the help; empty for flags
    option_group group = option_group::file;
    /// As the operator would write it; empty: the default of the part that the option belongs to. A verb may
    /// have another default.
    std::string default_text;
    /// How the help describes a default that cannot be written as a value.
    std::string default_meaning;
    std::string help;
    option_value value;
};

/// In the order of the help, which is also the order in which they are checked.
const std::vector<option>& all_options();

/// HERALD_…
std::string environment_name(std::string_view option);

}  // namespace herald::program
