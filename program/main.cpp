// herald: one program. See `herald --help` and README.md.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>

#include "program/command_line.hpp"

namespace {

constexpr int large_piece_bytes = 1024 * 1024;  // memory from this size on is returned when it is freed

using herald::program::invocation;
using herald::program::process_end;

process_end run_guarded(const invocation& what) try {
    return what.verb.run(what.chosen);
} catch (const std::exception& failure) {
    std::cerr << "herald: " << failure.what() << "\n";
    return process_end::failure;
}

/// One failure may be a bad moment of the disk; a second one within this time is left to the operator.
constexpr std::chrono::hours between_reopenings{1};

process_end run_until_ended(const invocation& what) {
    std::optional<std::chrono::steady_clock::time_point> reopened_at;
    for (;;) {
        const process_end end = run_guarded(what);
        if (end != process_end::restart && end != process_end::reopen) return end;
        if (end == process_end::restart) continue;
        const auto now = std::chrono::steady_clock::now();
        if (reopened_at && now - *reopened_at < between_reopenings) {
            std::cerr << "herald: the state database cannot be read again; it is kept\n";
            return process_end::failure;
        }
        reopened_at = now;
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    // By default these thresholds grow with the largest block ever freed, and the memory of large answers
    // would be kept for ever.
    ::mallopt(M_MMAP_THRESHOLD, large_piece_bytes);
    ::mallopt(M_TRIM_THRESHOLD, 8 * large_piece_bytes);
    const auto [to_run, wrong] = herald::program::read_command_line(argument_count, arguments);
    if (!to_run) return static_cast<int>(wrong);
    const process_end end = run_until_ended(*to_run);
    std::cout.flush();
    std::fflush(nullptr);
    // A Kafka client that hangs while closing is left to its thread (events/log/kafka), which must not keep
    // the process alive.
    _exit(static_cast<int>(end));
}
