#include "program/stop_signal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace herald::program {

stop_signal::stop_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    x_signals = ::signalfd(-1, &set, SFD_CLOEXEC);
    if (x_signals < 0 || ::pipe2(x_requests, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category(), "signals");
}

stop_signal::~stop_signal() {
    ::close(x_signals);
    ::close(x_requests[0]);
    ::close(x_requests[1]);
}

void stop_signal::request(process_end how) noexcept {
    [[maybe_unused]] const auto written = ::write(x_requests[1], &how, sizeof how);
}

process_end stop_signal::wait() {
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
