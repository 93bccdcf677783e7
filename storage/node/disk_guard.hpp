// Stops writes before the disk is full, so that there is room to delete and to continue (design.md §1
// "Disk").
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "runtime/metrics.hpp"

namespace herald::storage::node {

inline constexpr std::string_view disk_low_message =
    "too little disk space is left: only deletes, scan reports, rollbacks and changes of a webhook's status "
    "or secret are accepted";

/// check() is called from one thread, is_low() from any.
class disk_guard {
  public:
    disk_guard(std::filesystem::path folder, std::uint64_t free_bytes_min)
        : x_folder(std::move(folder)), x_free_bytes_min(free_bytes_min) {}
    /// Looks at the disk; cheap enough to call every second. If the folder cannot be queried, the last answer
    /// stands.
    void check() noexcept;
    bool is_low() const noexcept { return x_is_low.load(std::memory_order_relaxed); }

  private:
    const std::filesystem::path x_folder;
    const std::uint64_t x_free_bytes_min;
    std::atomic<bool> x_is_low = false;
    runtime::gauge& x_free = runtime::metric_gauge(runtime::metrics::disk_free);
};

}  // namespace herald::storage::node
