#include "storage/node/disk_guard.hpp"

#include <system_error>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::storage::node {

void disk_guard::check() noexcept {
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(x_folder, failure);
    if (failure) return;
    x_free.set(static_cast<std::int64_t>(space.available));
    const bool is_low = space.available < x_free_bytes_min;
    if (x_is_low.exchange(is_low) == is_low) return;
    runtime::log(is_low ? runtime::log_level::error : runtime::log_level::info,
                 is_low ? runtime::log_events::disk_low : runtime::log_events::disk_recovered,
                 {{"folder", x_folder.native()}, {"free_bytes", static_cast<std::int64_t>(space.available)}});
}

}  // namespace herald::storage::node
