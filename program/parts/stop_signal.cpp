#include "program/parts/stop_signal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "program/parts/service_manager.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::program {
namespace {

constexpr int start_look_ms = 10;
constexpr int end_look_ms = 50;

}  // namespace

stop_signal::stop_signal(ending_times within) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    // The terminal was closed; a process that was started with nohup is to go on.
    struct sigaction hangup {};
    ::sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    x_signals = ::signalfd(-1, &set, SFD_CLOEXEC);
    if (x_signals < 0 || ::pipe2(x_requests, O_CLOEXEC | O_NONBLOCK) != 0 ||
        ::pipe2(x_told, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category(), "signals");
    x_watch = std::thread([this, within] { watch(within); });
}

stop_signal::~stop_signal() {
    ::close(x_told[1]);
    x_watch.join();
    ::close(x_told[0]);
    ::close(x_signals);
    ::close(x_requests[0]);
    ::close(x_requests[1]);
}

void stop_signal::request(process_end how) noexcept {
    [[maybe_unused]] const auto written = ::write(x_requests[1], &how, sizeof how);
}

/// A start is as safe to cut off as by kill -9, and may hang in a call that nothing else ends.
void stop_signal::end_a_start(std::chrono::milliseconds within) const {
    const auto until = std::chrono::steady_clock::now() + within;
    for (;;) {
        if (x_is_started) return;
        pollfd gone = {x_told[0], 0, 0};
        if (::poll(&gone, 1, start_look_ms) > 0 && (gone.revents & POLLHUP) != 0) return;
        if (std::chrono::steady_clock::now() >= until) break;
    }
    if (x_is_started) return;
    runtime::log(runtime::log_level::info, runtime::log_events::start_given_up);
    _exit(static_cast<int>(process_end::done));
}

/// It takes no signal, since that is for wait(), or for the next of these objects.
void stop_signal::watch(const ending_times& within) const {
    pollfd waiting[2] = {{x_signals, POLLIN, 0}, {x_told[0], POLLIN, 0}};
    while (::poll(waiting, 2, -1) < 0) continue;
    if ((waiting[1].revents & POLLHUP) != 0) return;
    const auto told = std::chrono::steady_clock::now();
    if ((waiting[1].revents & POLLIN) == 0) end_a_start(within.starting);
    for (;;) {
        const process_end how = x_end;
        const bool may_leave_open = x_is_drained && how != process_end::restart && how != process_end::reopen;
        const auto left =
            told + (may_leave_open ? within.closing : within.ending) - std::chrono::steady_clock::now();
        pollfd gone = {x_told[0], 0, 0};
        if (left.count() > 0 && ::poll(&gone, 1, end_look_ms) < 0) continue;
        if ((gone.revents & POLLHUP) != 0) return;
        if (left.count() > 0) continue;
        if (may_leave_open) _exit(static_cast<int>(how));
        break;
    }
    static constexpr std::string_view text = "herald: the process did not end in time and is stopped\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    _exit(static_cast<int>(process_end::failure));
}

process_end stop_signal::wait() {
    x_is_started = true;
    const process_end how = next();
    x_end = how;
    if (how != process_end::restart && how != process_end::reopen) tell_service_manager("STOPPING=1");
    [[maybe_unused]] const auto written = ::write(x_told[1], "", 1);
    return how;
}

process_end stop_signal::next() {
    pollfd waiting[2] = {{x_signals, POLLIN, 0}, {x_requests[0], POLLIN, 0}};
    for (;;) {
        if (::poll(waiting, 2, -1) < 0) continue;
        process_end request = process_end::done;
        if ((waiting[1].revents & POLLIN) != 0 &&
            ::read(x_requests[0], &request, sizeof request) == sizeof request)
            return request;
        signalfd_siginfo info{};
        if ((waiting[0].revents & POLLIN) != 0 && ::read(x_signals, &info, sizeof info) == sizeof info)
            return process_end::done;
    }
}

}  // namespace herald::program
