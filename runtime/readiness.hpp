// Why a process does not serve or takes no writes (design.md §1 "Trouble is told"): /readyz and the metric
// herald_not_ready use the same words.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace herald::runtime {

/// `reason` is one of not_ready_reason, for machines; `message` is for people.
struct trouble {
    std::string_view reason;
    std::string message;
};

namespace not_ready_reason {
/// The log has not been found yet, or not been read to its end.
inline constexpr std::string_view starting = "starting";
inline constexpr std::string_view draining = "draining";
/// The process cannot continue and is about to end.
inline constexpr std::string_view failed = "failed";
/// Nodes have different states, and no majority says which is right.
inline constexpr std::string_view hashes_tied = "hashes_tied";
/// In a cluster: this node's heartbeats have not come through the log lately.
inline constexpr std::string_view log_unreachable = "log_unreachable";
/// The embedded log takes no appends: its disk is full or fails.
inline constexpr std::string_view log_not_written = "log_not_written";
/// What was read from the log cannot be written to the state database.
inline constexpr std::string_view state_not_written = "state_not_written";
/// A worker has not been able to read lately where deliveries go.
inline constexpr std::string_view subscribers_unreachable = "subscribers_unreachable";
/// A worker's consumer group cannot continue.
inline constexpr std::string_view group_failed = "group_failed";
/// For predictions alone: not all models of the endpoints were tried yet. Writes are taken.
inline constexpr std::string_view models_loading = "models_loading";
/// Low disk space: no reason not to be ready, since deletes and scan reports must arrive.
inline constexpr std::string_view disk_low = "disk_low";
}  // namespace not_ready_reason

/// The reasons of an API node.
inline constexpr std::array not_ready_reasons_of_node{
    not_ready_reason::starting,          not_ready_reason::draining,        not_ready_reason::failed,
    not_ready_reason::hashes_tied,       not_ready_reason::log_unreachable, not_ready_reason::log_not_written,
    not_ready_reason::state_not_written, not_ready_reason::models_loading};

/// The reasons of a worker.
inline constexpr std::array not_ready_reasons_of_worker{
    not_ready_reason::starting, not_ready_reason::draining, not_ready_reason::subscribers_unreachable,
    not_ready_reason::group_failed};

}  // namespace herald::runtime
