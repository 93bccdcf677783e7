// The table of verbs: what `herald VERB` can be. A verb is a file of its own and a row.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/options.hpp"
#include "program/process_end.hpp"

namespace herald::program {

struct verb {
    std::string name;
    std::string help;
    /// Runs until told to stop by a signal or a part, or until its work is done.
    process_end (*run)(const settings&) = nullptr;
    std::vector<option_group> groups;
    /// Options without which it is not run.
    std::vector<std::string> needs;
    /// Where it has other defaults than the options themselves; an empty one is none.
    std::vector<std::pair<std::string, std::string>> defaults;

    bool takes(const option&) const;
    const std::string& default_of(const option&) const;
};

const std::vector<verb>& all_verbs();

}  // namespace herald::program
