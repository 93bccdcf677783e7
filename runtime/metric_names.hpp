// The names of all metrics except those of the process itself (`process_*`). They are an interface for
// operators. tests/process/program/metrics.golden lists which of them each kind of process shows. The text
// after each name is its help text in /metrics. A comment's last sentence may name the labels; docs/reference
// is made of it, and of the headings above groups.
#pragma once

#include <string_view>

namespace herald::runtime {

struct metric_name {
    std::string_view name;
    std::string_view help;
};

namespace metrics {

// Nodes and their log
inline constexpr metric_name build_info{"herald_build_info", "1; the label is the version that runs"};
/// Labels: process (api, worker), reason (that of /readyz).
inline constexpr metric_name not_ready{"herald_not_ready", "1 while /readyz gives this reason"};
inline constexpr metric_name writes_refused{"herald_writes_refused", "1 while most writes get 503"};
/// Label: process.
inline constexpr metric_name log_reachable{"herald_log_reachable",
                                           "1 while this process hears from the log, 0 after 8 s of silence"};
inline constexpr metric_name apply_lag{"herald_apply_lag_records",
                                       "Commands in the log that are not applied here"};
inline constexpr metric_name append_seconds{"herald_append_seconds",
                                            "From handing a command to the log to its acknowledgement"};
inline constexpr metric_name outcomes_unknown{"herald_outcomes_unknown_total",
                                              "Commands that were sent but whose callers got no outcome"};
inline constexpr metric_name stale_reads{"herald_stale_reads_total",
                                         "Reads answered from a state that may be old"};
/// Label: name (publisher, builder, artifact-collector and others).
inline constexpr metric_name claim{"herald_claim", "1 while this node holds the claim"};
inline constexpr metric_name outbox_rows{"herald_outbox_rows", "Events that are not published yet"};
inline constexpr metric_name outbox_oldest{"herald_outbox_oldest_seconds",
                                           "Age of the oldest event that is not published yet"};
inline constexpr metric_name events_refused{"herald_events_refused_total",
                                            "Events that the log refused; their deliveries are dead"};
inline constexpr metric_name read_events_dropped{
    "herald_read_events_dropped_total",
    "READ events not sent: over 10 a second for one webhook, or no room in the log"};
/// Label: reason (UNAUTHENTICATED, PERMISSION_DENIED, NOT_FOUND).
inline constexpr metric_name access_refused{
    "herald_access_refused_total", "Requests without valid credentials, and reads that were refused"};
inline constexpr metric_name log_offset{"herald_log_offset", "Commands applied since the log began"};
inline constexpr metric_name log_bytes{"herald_log_bytes",
                                       "Bytes of the commands applied since the log began"};
inline constexpr metric_name replay_seconds{
    "herald_replay_seconds",
    "How long applying the whole log again would take, by the rate of the last replay"};
inline constexpr metric_name hash_differences{"herald_hash_differences",
                                              "Live nodes whose state differs from this one's"};
inline constexpr metric_name artifacts_damaged{"herald_artifacts_damaged_total",
                                               "Times that an artifact's bytes were found lost or damaged"};
/// Label: outcome (healthy, failed).
inline constexpr metric_name upstream_health_checks{
    "herald_upstream_health_checks_total", "Health checks of the upstream servers of deployed builds"};
inline constexpr metric_name disk_free{"herald_disk_free_bytes", "Free room on the disk of the data folder"};
inline constexpr metric_name clock_off{"herald_clock_off_seconds",
                                       "Standalone: by how much the wall clock is ahead of the log's"};
inline constexpr metric_name certificate_expiry{"herald_certificate_expiry_seconds",
                                                "Until the TLS certificate expires"};

// Deliveries
/// Label: topic.
inline constexpr metric_name consumer_lag{
    "herald_consumer_lag", "Records of this worker's partitions that are not done, as of the last minute"};
/// Label: why (unread, memory, room).
inline constexpr metric_name backlog{
    "herald_backlog_deliveries", "Deliveries that wait for a worker, not for a retry, a breaker or a pause"};
inline constexpr metric_name backlog_oldest{"herald_backlog_oldest_seconds",
                                            "Age of the oldest event among them"};
/// Label: topic.
inline constexpr metric_name partitions{"herald_partitions", "Partitions that this worker reads"};
inline constexpr metric_name group_changes{
    "herald_group_changes_total", "Times that a group gave this worker partitions or wanted them back"};
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

/// Of a worker's own loop, looked at every 10 ms while it has deliveries in memory.
inline constexpr metric_name loop_late{
    "herald_loop_late_seconds", "How late the worker's timers ran: it lacks CPU, or has too much to do"};

inline constexpr metric_name worker_events{"herald_worker_events_total", "Events accepted"};
inline constexpr metric_name worker_events_repeated{"herald_worker_events_repeated_total",
                                                    "Events dropped because they came again"};
inline constexpr metric_name worker_sequence_gaps{"herald_worker_sequence_gaps_total",
                                                  "Events that came after a gap: an alarm"};
inline constexpr metric_name worker_unreadable{"herald_worker_unreadable_total",
                                               "Records skipped because they cannot be read: an alarm"};
inline constexpr metric_name worker_deliveries{"herald_worker_deliveries_total",
                                               "Deliveries read, from any topic"};
/// Label: result (succeeded, failed, cancelled).
inline constexpr metric_name worker_attempts{"herald_worker_attempts_total", "Attempts by result"};
inline constexpr metric_name worker_skipped{"herald_worker_skipped_total",
                                            "Deliveries to deleted webhooks, late tests"};
inline constexpr metric_name worker_dropped{"herald_worker_dropped_total",
                                            "READ events that came too late, or for which there was no room"};
inline constexpr metric_name worker_held{"herald_worker_held_total",
                                         "Deliveries to webhooks that are switched off"};
inline constexpr metric_name worker_retried{"herald_worker_retried_total",
                                            "Deliveries put off after an attempt"};
inline constexpr metric_name worker_spilled{"herald_worker_spilled_total",
                                            "Deliveries put off without an attempt"};
inline constexpr metric_name worker_own_shortages{"herald_worker_own_shortages_total",
                                                  "Attempts not made for lack of descriptors or memory"};
inline constexpr metric_name worker_hops{"herald_worker_hops_total",
                                         "Moves between retry topics within one wait"};
inline constexpr metric_name worker_dead{"herald_worker_dead_total", "Deliveries given up"};
inline constexpr metric_name worker_appends_repeated{"herald_worker_appends_repeated_total",
                                                     "Appends repeated"};
inline constexpr metric_name worker_attempt_records_lost{"herald_worker_attempt_records_lost_total",
                                                         "Attempts missing from the history of deliveries"};
inline constexpr metric_name worker_deliveries_in_memory{"herald_worker_deliveries", "Deliveries in memory"};
inline constexpr metric_name worker_attempts_in_flight{"herald_worker_attempts_in_flight",
                                                       "Attempts under way"};
inline constexpr metric_name worker_breakers_open{"herald_worker_breakers_open",
                                                  "Webhooks whose breaker is open"};
inline constexpr metric_name worker_read_ahead_bytes{
    "herald_worker_read_ahead_bytes", "Bytes of records that were read but are not due, or have no room"};
/// Labels: webhook (its id), result (succeeded, failed).
inline constexpr metric_name webhook_attempts{"herald_webhook_attempts_total", "Attempts at each webhook"};
/// Label: webhook (its id). Of those with deliveries in this worker's memory.
inline constexpr metric_name webhook_waiting{"herald_webhook_deliveries",
                                             "Deliveries of each webhook in memory"};
/// Label: webhook (its id). Of those with deliveries in this worker's memory.
inline constexpr metric_name webhook_oldest{"herald_webhook_oldest_seconds",
                                            "Age of each webhook's oldest event in memory"};
/// Label: webhook (its id).
inline constexpr metric_name webhook_breaker_open{"herald_webhook_breaker_open",
                                                  "1 while a webhook's breaker is open; then it is gone"};

// Dynamic batching
/// Rows divided by batches are the mean size of a batch. Endpoints that serve the same build with the same
/// settings share its batches. Label: build.
inline constexpr metric_name prediction_batches{"herald_prediction_batches_total",
                                                "Runs of models with batching"};
/// Label: build.
inline constexpr metric_name prediction_batch_rows{"herald_prediction_batch_rows_total",
                                                   "Rows in the runs of models with batching"};

// The HTTP server
/// Label: status.
inline constexpr metric_name http_requests{"herald_http_requests_total", "Requests answered"};
inline constexpr metric_name http_request_seconds{
    "herald_http_request_duration_seconds", "From the first byte of a request to the last of its answer"};
inline constexpr metric_name http_connections{"herald_http_connections", "Open HTTP connections"};
inline constexpr metric_name http_connections_refused{
    "herald_http_connections_refused_total", "Connections beyond the bounds, answered 503 and closed"};
inline constexpr metric_name http_connections_evicted{"herald_http_connections_evicted_total",
                                                      "Connections without credentials, closed to make room"};

// Predictions
/// Labels: endpoint (its path), outcome (answered, refused, unauthorized, too_many, failed).
inline constexpr metric_name predictions{"herald_predictions_total", "Predictions answered"};
/// Label: endpoint.
inline constexpr metric_name prediction_seconds{
    "herald_prediction_duration_seconds", "From a prediction's request to the first byte of its answer"};
/// Label: endpoint.
inline constexpr metric_name predictions_in_flight{"herald_predictions_in_flight", "Predictions in flight"};
/// Label: runtime (onnx, upstream).
inline constexpr metric_name model_load_seconds{"herald_model_load_duration_seconds",
                                                "Loading a model and warming it up"};
/// Label: runtime.
inline constexpr metric_name model_loads_failed{"herald_model_loads_failed_total",
                                                "Models that could not be loaded"};
inline constexpr metric_name models_loaded{"herald_models_loaded", "Models in memory or connected to"};
inline constexpr metric_name models_bytes{"herald_models_bytes", "Estimated memory of the models loaded"};

}  // namespace metrics
}  // namespace herald::runtime
