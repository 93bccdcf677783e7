// What an operator may set for deliveries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "workers/limits.hpp"

namespace herald::workers {

struct delivery_options {
    std::string header_prefix = "svc-";
    /// How many deliveries of one webhook may wait in the retry topics because of this worker, after
    /// failures; any beyond that are dead.
    std::uint64_t retry_backlog_max = limits::retry_backlog_per_webhook_max;
    /// Concurrent attempts at one webhook.
    std::size_t concurrency = limits::lane_concurrency_max;
    /// Concurrent attempts at one scheme, host and port, whatever webhooks lead there.
    std::size_t concurrency_of_place = limits::receiver_connections_default;
};

}  // namespace herald::workers
