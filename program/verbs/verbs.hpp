// The table of verbs: everything that `herald VERB` can be. A verb is one file and one row.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program/options/options.hpp"
#include "program/parts/process_end.hpp"

namespace herald::program {

struct verb {
    std::string name;
    std::string help;
    /// Runs until a signal or a part of the process stops it, or until its work is done.
    process_end (*run)(const settings&) = nullptr;
    /// Whether a signal stops it with exit code 0, from the first moment on (stop_signal).
    bool is_stopped = false;
    /// The operands before its options: fixed words (verify) and values (EXPORT). All are required.
    std::vector<std::string> operands = {};
    std::vector<option_group> groups;
    /// Options that it requires.
    std::vector<std::string> needs;
    /// Defaults that differ from those of the options themselves; an empty one means none.
    std::vector<std::pair<std::string, std::string>> defaults;

    bool takes(const option&) const;
    const std::string& default_of(const option&) const;
};

const std::vector<verb>& all_verbs();

}  // namespace herald::program
