// herald: one program. See `herald --help` and README.md.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>

#include "composition.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace {

constexpr int large_piece_bytes = 1024 * 1024;  // from this size on, memory goes back when it is freed

using herald::process_end;
using herald::verb;

process_end run(const herald::settings& chosen) {
    switch (chosen.verb) {
        case verb::standalone:
            return herald::run_standalone(chosen);
        case verb::api:
            return herald::run_api(chosen);
        case verb::worker:
            return herald::run_worker(chosen);
        case verb::init:
            return herald::run_init(chosen);
        case verb::admin_key:
            return herald::run_admin_key(chosen);
        case verb::raise_level:
            return herald::run_raise_level(chosen);
        case verb::state_hash:
            return herald::run_state_hash(chosen);
        case verb::groups:
            return herald::run_groups(chosen);
        case verb::version:
            break;
    }
    std::cout << "herald " HERALD_VERSION "\n";
    return process_end::done;
}

process_end run_guarded(const herald::settings& chosen) try {
    return run(chosen);
} catch (const std::exception& failure) {
    std::cerr << "herald: " << failure.what() << "\n";
    return process_end::failure;
}

/// Once is a disk's bad moment; a second time soon after is left to whoever looks after the machine.
constexpr std::chrono::hours between_reopenings_min{1};

process_end run_until_ended(const herald::settings& chosen) {
    std::optional<std::chrono::steady_clock::time_point> reopened_at;
    for (;;) {
        const process_end end = run_guarded(chosen);
        if (end != process_end::restart && end != process_end::reopen) return end;
        if (end == process_end::restart) continue;
        const auto now = std::chrono::steady_clock::now();
        if (reopened_at && now - *reopened_at < between_reopenings_min) {
            std::cerr << "herald: the state database cannot be read again; it is kept\n";
            return process_end::failure;
        }
        reopened_at = now;
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    // Left alone these bounds grow with the largest piece that was ever freed, and what large answers took is
    // kept for ever.
    ::mallopt(M_MMAP_THRESHOLD, large_piece_bytes);
    ::mallopt(M_TRIM_THRESHOLD, 8 * large_piece_bytes);
    const auto [chosen, code] = herald::read_settings(argument_count, arguments);
    if (!chosen) return code;
    const process_end end = run_until_ended(*chosen);
    std::cout.flush();
    std::fflush(nullptr);
    // A Kafka client that hangs while closing is left to its thread (events/kafka): it must not keep the
    // process.
    _exit(static_cast<int>(end));
}
