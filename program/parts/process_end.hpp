// How a process ends, and how its parts ask for that.
#pragma once

#include <functional>

#include "runtime/error.hpp"

namespace herald::program {

/// Exit codes (design.md §7), and what a part of the process may ask main for: a restart, or a restart after
/// an I/O error, which may happen once.
enum class process_end : int {
    done = 0,
    failure = 1,
    wrong_use = 2,
    mismatch = 3,
    restart = 256,
    reopen = 257,
};

/// Called once or more, on any thread: the process must end, or restart with its state rebuilt.
using end_request = std::function<void(process_end)>;

/// Prints the reason to standard error; returns the exit code for the error.
process_end failed(const error& why);

}  // namespace herald::program
