// Preloaded into a program under test: its wall clock is off by HERALD_CLOCK_SHIFT_SECONDS.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
    const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, which, now));
    if (failed == 0 && which == CLOCK_REALTIME)
        if (const char* shift = std::getenv("HERALD_CLOCK_SHIFT_SECONDS")) now->tv_sec += std::atol(shift);
    return failed;
}
