// An installation's topics and groups, and their settings (kafka.md §3).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace herald::events::log {

enum class cleanup : std::uint8_t { by_age, compact };

struct topic_settings {
    std::string_view name;
    std::int32_t partitions;
    cleanup policy;
    std::int64_t kept_ms;  // −1: for ever
    /// Embedded log: synced to disk before the append is acknowledged. Event topics need no sync: they can be
    /// published again.
    bool durable;
    /// The consumer group that reads it; empty when it is read without a group.
    std::string_view group;
};

namespace topic {
inline constexpr std::string_view commands = "registry.commands";
inline constexpr std::string_view promote = "events.promote";
inline constexpr std::string_view request_scan = "events.request-scan";
inline constexpr std::string_view resource = "events.resource";
inline constexpr std::string_view subscribers = "subscribers";
inline constexpr std::string_view direct = "deliveries.direct";
inline constexpr std::string_view replay = "deliveries.replay";
inline constexpr std::string_view waiting = "waiting";
inline constexpr std::string_view waiting_5s = "waiting.5s";
inline constexpr std::string_view waiting_1m = "waiting.1m";
inline constexpr std::string_view waiting_10m = "waiting.10m";
inline constexpr std::string_view retry_5s = "retry.5s";
inline constexpr std::string_view retry_30s = "retry.30s";
inline constexpr std::string_view retry_5m = "retry.5m";
inline constexpr std::string_view retry_1h = "retry.1h";
inline constexpr std::string_view retry_6h = "retry.6h";
inline constexpr std::string_view dead = "dead";
inline constexpr std::string_view attempts = "attempts";
}  // namespace topic

namespace group {
inline constexpr std::string_view events = "herald-events";
inline constexpr std::string_view direct = "herald-direct";
inline constexpr std::string_view retry = "herald-retry";
inline constexpr std::string_view waiting = "herald-waiting";
}  // namespace group

/// Partitions of every topic except the commands and the subscribers, unless `init` sets another number.
constexpr std::int32_t partitions_default = 12;
constexpr std::int64_t day_ms = 24ll * 3'600'000;

inline constexpr std::array<topic_settings, 18> all_topics{{
    {log::topic::commands, 1, cleanup::by_age, -1, true, ""},
    {log::topic::promote, partitions_default, cleanup::by_age, 14 * day_ms, false, log::group::events},
    {log::topic::request_scan, partitions_default, cleanup::by_age, 14 * day_ms, false, log::group::events},
    {log::topic::resource, partitions_default, cleanup::by_age, 14 * day_ms, false, log::group::events},
    {log::topic::subscribers, 1, cleanup::compact, -1, true, ""},
    {log::topic::direct, partitions_default, cleanup::by_age, 7 * day_ms, true, log::group::direct},
    {log::topic::replay, partitions_default, cleanup::by_age, 7 * day_ms, true, log::group::direct},
    {log::topic::waiting, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::waiting},
    {log::topic::waiting_5s, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::waiting},
    {log::topic::waiting_1m, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::waiting},
    {log::topic::waiting_10m, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::waiting},
    {log::topic::retry_5s, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::retry},
    {log::topic::retry_30s, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::retry},
    {log::topic::retry_5m, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::retry},
    {log::topic::retry_1h, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::retry},
    {log::topic::retry_6h, partitions_default, cleanup::by_age, 14 * day_ms, true, log::group::retry},
    {log::topic::dead, partitions_default, cleanup::by_age, 30 * day_ms, true, ""},
    {log::topic::attempts, partitions_default, cleanup::by_age, 30 * day_ms, false, ""},
}};

constexpr const topic_settings* find_topic(std::string_view name) noexcept {
    for (const topic_settings& candidate : all_topics)
        if (candidate.name == name) return &candidate;
    return nullptr;
}

}  // namespace herald::events::log
