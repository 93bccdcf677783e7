// What an operator may say of deliveries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "workers/limits.hpp"

namespace herald::workers {

struct delivery_options {
    std::string header_prefix = "svc-";
    /// Deliveries of one webhook that may wait in the retry topics, after failures, because of this worker;
    /// beyond, they are dead.
    std::uint64_t retry_backlog_max = limits::retry_backlog_per_webhook_max;
    /// Attempts at one webhook at a time.
    std::size_t concurrency = limits::lane_concurrency_max;
};

}  // namespace herald::workers
