#include "runtime/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::runtime {
namespace {

constexpr std::size_t database_files_max = 512;
constexpr std::size_t receivers_max = 2 * limits::attempts_in_flight_max;
constexpr std::size_t own_max = 512;
constexpr std::size_t reserve_max = 3 * database_files_max + receivers_max + own_max;

}  // namespace

descriptor_shares share_descriptors(std::size_t limit) noexcept {
    const std::size_t beyond_reserve = limit > reserve_max ? limit - reserve_max : 0;
    descriptor_shares out;
    out.limit = limit;
    out.clients = std::min(std::max(limit / 4, beyond_reserve), limits::connections_max);
    out.receivers = std::min(limit / 8, receivers_max);
    out.database_files = std::min(limit / 8, database_files_max);
    return out;
}

descriptor_shares take_descriptors() {
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    rlimit raised = now;
    raised.rlim_cur = raised.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) now = raised;
    const descriptor_shares out = share_descriptors(now.rlim_cur);
    const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    log(log_level::info, log_events::descriptors_shared,
        {{"limit", number(out.limit)},
         {"clients", number(out.clients)},
         {"receivers", number(out.receivers)},
         {"database_files", number(out.database_files)}});
    return out;
}

}  // namespace herald::runtime
