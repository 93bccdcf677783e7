// Preloaded: while the file named by SLOW_SYNC_TRIGGER is there, writing through to the disk takes 1.5 s.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

int sync_slowly(long call, int file) {
    const char* trigger = std::getenv("SLOW_SYNC_TRIGGER");
    if (trigger != nullptr && ::access(trigger, F_OK) == 0) ::usleep(1'500'000);
    return static_cast<int>(::syscall(call, file));
}

}  // namespace

extern "C" int fdatasync(int file) { return sync_slowly(SYS_fdatasync, file); }
extern "C" int fsync(int file) { return sync_slowly(SYS_fsync, file); }
