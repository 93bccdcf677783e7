// The operator's options: the command line wins, then the environment (HERALD_…), then the file given with
// --config.
#pragma once

#include <optional>

#include "program/options/settings.hpp"
#include "program/verbs/verbs.hpp"

namespace herald::program {

struct invocation {
    const program::verb& verb;
    settings chosen;  // already checked and usable
};

/// Empty when there is nothing to run (help, wrong use): the reason has been printed, and `end` is the exit
/// code.
struct command_line_reading {
    std::optional<invocation> to_run;
    process_end end = process_end::done;
};
command_line_reading read_command_line(int argument_count, const char* const* arguments);

}  // namespace herald::program
