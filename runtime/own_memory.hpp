// How much memory this process may have.
#pragma once

#include <cstdint>
#include <filesystem>

namespace herald::runtime {

/// The least of the machine's memory and the bounds of the process's control group and all groups around it,
/// as far as the process can see them; of version 1 (memory.limit_in_bytes) and of version 2 (memory.max).
/// `process`: the folder in which the kernel describes the process.
std::uint64_t own_memory_bytes(const std::filesystem::path& process = "/proc/self");

/// Of the control groups alone: UINT64_MAX when none has a bound.
std::uint64_t memory_bound_of_groups(const std::filesystem::path& process);

}  // namespace herald::runtime
