// The names of the metrics of a node: an interface for operators, so they are all here. The text after each
// is what /metrics says of it.
#pragma once

#include <string_view>

namespace herald::runtime {

struct metric_name {
    std::string_view name;
    std::string_view help;
};

namespace metrics {

inline constexpr metric_name build_info{"herald_build_info", "1; the label is the version that runs"};
/// Labels: process (api, worker), reason (runtime/readiness.hpp).
inline constexpr metric_name not_ready{"herald_not_ready", "1 while /readyz gives this reason"};
inline constexpr metric_name writes_refused{"herald_writes_refused", "1 while most writes get 503"};
/// Label: process.
inline constexpr metric_name log_reachable{
    "herald_log_reachable",
    "1 while this process is heard in the log (a worker: reads it), 0 when not for 8 s"};
inline constexpr metric_name apply_lag{"herald_apply_lag_records",
                                       "Commands in the log that are not applied here"};
inline constexpr metric_name append_seconds{"herald_append_seconds",
                                            "From handing a command to the log to its acknowledgement"};
inline constexpr metric_name outcomes_unknown{"herald_outcomes_unknown_total",
                                              "Commands that were sent and whose callers got no outcome"};
inline constexpr metric_name stale_reads{"herald_stale_reads_total",
                                         "Reads answered from a state that may be old"};
/// Label: name.
inline constexpr metric_name claim{"herald_claim", "1 while this node holds the claim"};
inline constexpr metric_name outbox_rows{"herald_outbox_rows", "Events that are not published yet"};
inline constexpr metric_name outbox_oldest{"herald_outbox_oldest_seconds",
                                           "Age of the oldest event that is not published yet"};
inline constexpr metric_name events_refused{
    "herald_events_refused_total", "Events that the log took no record of; their deliveries are dead"};
inline constexpr metric_name log_offset{"herald_log_offset", "Commands applied since the log began"};
inline constexpr metric_name log_bytes{"herald_log_bytes",
                                       "Bytes of the commands applied since the log began"};
inline constexpr metric_name replay_seconds{
    "herald_replay_seconds",
    "How long applying the whole log again would take, by the rate of the last replay"};
inline constexpr metric_name hash_differences{"herald_hash_differences",
                                              "Live nodes whose state differs from this one's"};
inline constexpr metric_name disk_free{"herald_disk_free_bytes", "Free room on the disk of the data folder"};
inline constexpr metric_name clock_off{"herald_clock_off_seconds",
                                       "Standalone: by how much the wall clock is ahead of the log's"};
inline constexpr metric_name certificate_expiry{"herald_certificate_expiry_seconds",
                                                "Until the TLS certificate expires"};

/// Of a worker. Label: topic.
inline constexpr metric_name consumer_lag{
    "herald_consumer_lag", "Records of this worker's partitions that are not done, as of the last minute"};
/// Label: event (type).
inline constexpr metric_name delivery_seconds{"herald_delivery_seconds",
                                              "From the commit of an event to a receiver's 2xx"};
/// Label: result (succeeded, will_retry, dead).
inline constexpr metric_name attempt_seconds{"herald_attempt_seconds", "Duration of attempts"};
/// Label: stage (row, lane, attempt, write).
inline constexpr metric_name waiting{"herald_waiting", "Deliveries in memory, by what they wait for"};
inline constexpr metric_name waiting_oldest{
    "herald_waiting_oldest_seconds",
    "Age of the oldest event in memory, or of the oldest record that waits in a retry topic"};
/// Label: reason (refused, backlog, gone, or the class of the last error).
inline constexpr metric_name dead{"herald_dead_total", "Deliveries given up"};
inline constexpr metric_name webhooks_disabled{"herald_webhooks_disabled", "Webhooks that are switched off"};

}  // namespace metrics
}  // namespace herald::runtime
