// The records that go to the topic `attempts`, for the history of deliveries (delivery.md §6). Pure.
#pragma once

#include <string>

#include "schemas/webhooks.hpp"
#include "workers/fan_out.hpp"
#include "workers/transport.hpp"

namespace herald::workers {

/// Why nothing was sent: skipped, held or dead; its attempt number is 0.
struct no_attempt {
    schemas::attempt_result result = schemas::attempt_result::skipped;
    schemas::delivery_error error = schemas::delivery_error::none;
    std::string message;
    std::int64_t time_ms = 0;  // by the log's clock
};
schemas::attempt record_of(const delivery_of_event&, const no_attempt&);

/// An attempt that was made, numbered 1, 2, 3 …; the caller adds its consequences (result, message,
/// next_attempt_ms, disable_webhook).
struct made_attempt {
    std::uint64_t webhook_revision = 0;
    std::int64_t time_ms = 0;     // start of the attempt, by the log's clock
    std::string request_headers;  // without secrets
};
schemas::attempt record_of(const delivery_of_event&, const made_attempt&, const delivery_answer&);

}  // namespace herald::workers
