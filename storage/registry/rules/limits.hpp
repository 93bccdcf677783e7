// The bounds of what rules accept and keep, and their times. Another value waits for a level, as any change
// of a rule (schemas/commands/level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t scan_deadline_ms = 24ll * 3'600'000;
constexpr std::int64_t webhook_disable_after_ms =
    5ll * 24 * 3'600'000;  // of nothing but failures (delivery.md §4)
constexpr std::int64_t outbox_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::size_t users_per_request_max = 400;
constexpr std::size_t webhooks_per_delete_max = 100;
constexpr std::size_t webhook_filters_max = 16;
constexpr std::size_t runtimes_max = 16;  // runtimes for models that a node lists
constexpr std::size_t runtime_name_bytes_max = 64;

}  // namespace herald::limits
