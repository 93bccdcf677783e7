// Preloaded: a read of one of the state's tables fails with EIO, once each time the file named by
// FAILING_READS_TRIGGER is created. The failing read deletes that file.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool is_table_of_state(int file) {
    std::array<char, 1024> path;
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    const std::string_view name(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return name.ends_with(".sst") && name.find("/herald/state/") != std::string_view::npos;
}

}  // namespace

extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t from) {
    const char* trigger = std::getenv("FAILING_READS_TRIGGER");
    if (trigger != nullptr && is_table_of_state(file) && ::unlink(trigger) == 0) {
        errno = EIO;
        return -1;
    }
    return static_cast<ssize_t>(::syscall(SYS_pread64, file, to, bytes, from));
}
