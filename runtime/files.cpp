#include "runtime/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace herald::runtime {

std::error_code make_durable(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::error_code failure;
    if (descriptor < 0 || ::fsync(descriptor) != 0) failure = {errno, std::generic_category()};
    if (descriptor >= 0) ::close(descriptor);
    return failure;
}

}  // namespace herald::runtime
