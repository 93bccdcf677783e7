#include "api/serving/engines/onnx/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace herald::api::serving::engines::onnx {

mapped_file::mapped_file(const std::filesystem::path& path) noexcept {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat seen {};
    const bool is_seen = ::fstat(file, &seen) == 0 && seen.st_size > 0;
    const auto length = is_seen ? static_cast<std::size_t>(seen.st_size) : 0;
    void* const mapped = is_seen ? ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (mapped == MAP_FAILED) return;
    x_memory = mapped;
    x_length = length;
}

mapped_file::~mapped_file() {
    if (x_memory) ::munmap(x_memory, x_length);
}

}  // namespace herald::api::serving::engines::onnx
