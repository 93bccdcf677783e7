#include "tests/process/storage/embedded_log/disk_gate.hpp"

#include <sys/syscall.h>
#include <unistd.h>

/// The real function, behind the gate.
extern "C" int fdatasync(int descriptor) {
    using namespace herald::test;
    ++syncs_waiting;
    const std::lock_guard gate(sync_gate);
    --syncs_waiting;
    ++sync_count;
    return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}
