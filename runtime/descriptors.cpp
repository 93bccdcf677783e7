#include "runtime/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::runtime {
descriptor_shares share_descriptors(std::size_t limit) noexcept {
    const std::size_t beyond_reserve =
        limit > limits::reserved_descriptors_max ? limit - limits::reserved_descriptors_max : 0;
    descriptor_shares out;
    out.limit = limit;
    out.clients = std::min(std::max(limit / 4, beyond_reserve), limits::connections_max);
    out.receivers = std::min(limit / 8, limits::receivers_max);
    out.database_files = std::min(limit / 8, limits::database_files_max);
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
