// How a process ends, and how its parts say that it must.
#pragma once

#include <functional>

#include "runtime/error.hpp"

namespace herald::program {

/// Exit codes (design.md §7), and what a part of the process asks main for: to begin again, and the same
/// after an I/O error, which may happen once.
enum class process_end : int {
    done = 0,
    failure = 1,
    wrong_use = 2,
    mismatch = 3,
    restart = 256,
    reopen = 257,
};

/// Called once or more, on any thread: the process is to end, or to begin again with its state made anew.
using end_request = std::function<void(process_end)>;

/// Says why on standard error; the exit code that belongs to the error.
process_end failed(const error& why);

}  // namespace herald::program
