// herald: one program. See `herald --help` and README.md.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "program/command_line.hpp"

namespace {

constexpr int large_piece_bytes = 128 * 1024;  // memory from this size on is returned when it is freed

using herald::program::invocation;
using herald::program::process_end;

bool is_shortage(const std::exception& failure) {
    if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
    const auto* const system = dynamic_cast<const std::system_error*>(&failure);
    return system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                                 system->code() == std::errc::not_enough_memory);
}

/// Without an allocation.
void say(const std::exception& failure) {
    const auto write = [](std::string_view text) {
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    };
    write("herald: ");
    if (is_shortage(failure))
        write(
            "there is not enough memory, or it may start no more threads (ulimit -v, ulimit -u, or the "
            "limits of its service): ");
    write(failure.what());
    write("\n");
}

process_end run_guarded(const invocation& what) try {
    return what.verb.run(what.chosen);
} catch (const std::exception& failure) {
    say(failure);
    return process_end::failure;
}

std::terminate_handler terminate_with_core = nullptr;

/// A shortage that ends the process is not a bug, on any thread: a core would show nothing.
void end_at_shortage() {
    try {
        if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const std::exception& failure) {
        if (is_shortage(failure)) {
            say(failure);
            _exit(static_cast<int>(process_end::failure));
        }
    } catch (...) {
    }
    terminate_with_core();
}

/// A signal that comes before there is a stop_signal waits for it. Other verbs end by signals as any program.
void hold_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(how, &set, nullptr);
}

/// What a process opens next must not become its standard output.
void open_standard_streams() {
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(each, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) std::abort();
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
    hold_signals(SIG_BLOCK);
    open_standard_streams();
    terminate_with_core = std::set_terminate(end_at_shortage);
    std::signal(SIGPIPE, SIG_IGN);
    // By default these thresholds grow with the largest block ever freed, and the memory of large answers
    // would be kept for ever.
    ::mallopt(M_MMAP_THRESHOLD, large_piece_bytes);
    ::mallopt(M_TRIM_THRESHOLD, 64 * large_piece_bytes);
    const auto [to_run, wrong] = herald::program::read_command_line(argument_count, arguments);
    if (!to_run) return static_cast<int>(wrong);
    if (!to_run->verb.is_stopped) hold_signals(SIG_UNBLOCK);
    const process_end end = run_until_ended(*to_run);
    std::cout.flush();
    std::fflush(nullptr);
    // A Kafka client that hangs while closing is left to its thread (events/log/kafka), which must not keep
    // the process alive.
    _exit(static_cast<int>(end));
}
