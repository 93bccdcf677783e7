#include "api/serving/builder/build_attempts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/artifacts/arriving_file.hpp"

namespace herald::api::serving::builder {

using storage::artifacts::failed;

std::filesystem::path build_attempts::file_of(schemas::build_id build) const {
    return x_folder / std::to_string(build.value);
}

/// A byte for each time.
result<int> build_attempts::begin(schemas::build_id build) {
    if (const auto made = storage::artifacts::make_folder(x_folder); !made) return made.error();
    const auto path = file_of(build);
    const storage::artifacts::descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!file) return failed("open", path, errno);
    const auto before = ::lseek(file.get(), 0, SEEK_END);
    if (before < 0) return failed("look at", path, errno);
    if (::write(file.get(), "x", 1) != 1) return failed("write", path, errno);
    if (::fsync(file.get()) != 0) return failed("sync", path, errno);
    if (const auto synced = storage::artifacts::sync_folder(x_folder); !synced) return synced.error();
    return static_cast<int>(before);
}

void build_attempts::end(schemas::build_id build) noexcept {
    ::unlink((x_folder / std::to_string(build.value)).c_str());
}

}  // namespace herald::api::serving::builder
