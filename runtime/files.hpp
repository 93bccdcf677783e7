// Files that outlive a loss of power.
#pragma once

#include <filesystem>
#include <system_error>

namespace herald::runtime {

/// Returns when the bytes of the file, or the entries of the folder, are on the disk. Waits for the disk.
std::error_code make_durable(const std::filesystem::path&);

}  // namespace herald::runtime
