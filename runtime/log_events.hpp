// The names of the log's events (runtime/log.hpp): an interface for operators, so they are all here.
#pragma once

#include <string_view>

namespace herald::runtime::log_events {

/// A coroutine ended with an exception: a bug. Fields: task, reason.
inline constexpr std::string_view task_failed = "task_failed";
/// One HTTP request was answered. Fields: method, path, status, bytes, duration_us, request_id, remote.
inline constexpr std::string_view request = "request";
/// A request without valid credentials, or a read of what the caller may not see; at most one a second.
/// Fields: reason, method, path, remote, left_out (lines since the last one).
inline constexpr std::string_view access_refused = "access_refused";
/// A handler threw: a bug; the caller got 500. Or a streamed body could not be completed: the caller sees
/// that it is cut off. Not logged when the server stops. Fields: method, path, request_id, reason.
inline constexpr std::string_view request_failed = "request_failed";
/// At start: the number of file descriptors, and how many of them are for HTTP clients, receivers of
/// webhooks, and the files of each database. Fields: limit, clients, receivers, database_files.
inline constexpr std::string_view descriptors_shared = "descriptors_shared";
/// For a moment no connection can be accepted, usually for lack of file descriptors. Fields: reason, wait_ms.
inline constexpr std::string_view accept_paused = "accept_paused";
/// The state database cannot be read; it is reopened, or rebuilt if it is corrupt. Fields: reason.
inline constexpr std::string_view state_unreadable = "state_unreadable";
/// The state database was damaged and is being rebuilt from the log. Fields: reason.
inline constexpr std::string_view state_rebuild = "state_rebuild";
/// A snapshot of the state was taken. Fields: name, bytes.
inline constexpr std::string_view snapshot_taken = "snapshot_taken";
/// An administrator had a backup made. Fields: name, bytes.
inline constexpr std::string_view backup_made = "backup_made";
/// One that an administrator asked for could not be made. Fields: name, reason.
inline constexpr std::string_view backup_failed = "backup_failed";
/// No snapshot could be taken; tried again. Fields: reason.
inline constexpr std::string_view snapshot_failed = "snapshot_failed";
/// A snapshot is not used, since it is damaged or of something else: the one before is, or the whole log.
/// Fields: name, reason.
inline constexpr std::string_view snapshot_refused = "snapshot_refused";
/// The state begins with a snapshot; only what came after it is applied again. Fields: name.
inline constexpr std::string_view snapshot_loaded = "snapshot_loaded";
/// The state database takes no writes, usually because the disk is full; retried. Fields: reason.
inline constexpr std::string_view state_not_written = "state_not_written";
/// The embedded log takes no writes, usually because the disk is full; retried. Fields: reason.
inline constexpr std::string_view log_not_written = "log_not_written";
/// The embedded log takes writes again.
inline constexpr std::string_view log_recovered = "log_recovered";
/// The wall clock differs by over an hour from the embedded log's time, which continues without it: an alarm.
/// Fields: wall_ahead_seconds.
inline constexpr std::string_view clock_off = "clock_off";
/// The wall clock is right again. Fields: wall_ahead_seconds.
inline constexpr std::string_view clock_right = "clock_right";
/// A power failure tore the embedded log's unsynced end; the log continues before that point. Fields: reason.
inline constexpr std::string_view log_end_cut = "log_end_cut";
/// A message from RocksDB. Fields: message.
inline constexpr std::string_view rocksdb_message = "rocksdb_message";
/// This node serves. Fields: node, offset.
inline constexpr std::string_view node_ready = "node_ready";
/// This node cannot continue; the process ends. Fields: node, reason.
inline constexpr std::string_view node_failed = "node_failed";
/// Nodes at the same offset have different states. Fields: node, offset, agree, differ.
inline constexpr std::string_view node_hash_differs = "node_hash_differs";
/// Low disk space: most writes are refused. Fields: folder, free_bytes.
inline constexpr std::string_view disk_low = "disk_low";
/// There is room again. Fields: folder, free_bytes.
inline constexpr std::string_view disk_recovered = "disk_recovered";
/// The history of deliveries was damaged and begins anew. Fields: reason.
inline constexpr std::string_view delivery_history_reset = "delivery_history_reset";
/// Partitions of `attempts` cannot be read, or their rows cannot be kept; also once a minute while that
/// lasts. Fields: partition (one of them), reason, since, seconds.
inline constexpr std::string_view delivery_history_trouble = "delivery_history_trouble";
/// All partitions of `attempts` are read again. Fields: since, seconds.
inline constexpr std::string_view delivery_history_recovered = "delivery_history_recovered";
/// Events are missing in a partition: an alarm. Fields: topic, partition, offset, message.
inline constexpr std::string_view sequence_gap = "sequence_gap";
/// An environment variable that begins with HERALD_ but is not an option. Fields: name, nearest (of the
/// options).
inline constexpr std::string_view environment_unknown = "environment_unknown";
/// A start waits for something that may come any moment, as brokers or an installation on them; also once a
/// minute while it waits. Fields: waits_for (brokers; installation), reason, since, seconds.
inline constexpr std::string_view start_waits = "start_waits";
/// What a start waited for is there. Fields: waits_for, since, seconds.
inline constexpr std::string_view start_goes_on = "start_goes_on";
/// A process was told to end while it started, and did.
inline constexpr std::string_view start_given_up = "start_given_up";
/// This API node answers from now on. Fields: version, address, webhook_addresses, webhook_http.
inline constexpr std::string_view serving = "serving";
/// This worker has read what it needs and delivers from now on. Fields: as serving; address is where health
/// and metrics are served, if anywhere.
inline constexpr std::string_view delivering = "delivering";
/// Herald generated the first administrator's key. Fields: email, key_file.
inline constexpr std::string_view administrator_made = "administrator_made";

/// One attempt was made, possibly a test. Fields: webhook_id, delivery_id, event_type, source, attempt (its
/// number), result, error (class; none), status (0: no answer), address, duration_us.
inline constexpr std::string_view delivery_attempted = "delivery_attempted";
/// An attempt failed, or a delivery is dead, held because its webhook is disabled, or dropped because it was
/// deleted; at most a few a minute for one webhook. Fields: webhook_id, webhook_name, delivery_id,
/// event_type, attempt (0: none was made), error (class), status, message, next_attempt (empty: none),
/// left_out (lines since the last one).
inline constexpr std::string_view delivery_failed = "delivery_failed";
inline constexpr std::string_view delivery_dead = "delivery_dead";
inline constexpr std::string_view delivery_held = "delivery_held";
inline constexpr std::string_view delivery_skipped = "delivery_skipped";
/// A webhook was disabled, by its own answer or after 5 days of failures. Fields: webhook_id, webhook_name,
/// reason, failing_since (since when it has had only failures; empty: no failures before).
inline constexpr std::string_view webhook_disabled = "webhook_disabled";

/// Bytes that the registry no longer has stay in the store of artifacts; it is tried again. Fields: object,
/// reason.
inline constexpr std::string_view artifact_not_erased = "artifact_not_erased";
/// Bytes that the registry has are not in the store of artifacts as they were stored: an alarm. Fields:
/// object, reason.
inline constexpr std::string_view artifact_damaged = "artifact_damaged";
/// A call on the disk of the store of artifacts, or of copies of models, failed. Fields: what, path, reason.
inline constexpr std::string_view artifact_store_failed = "artifact_store_failed";
/// A build cannot be made now; it is tried again. Fields: build, reason.
inline constexpr std::string_view build_waits = "build_waits";
/// Models that do not end to load keep all threads for that: this process makes no build until one of them
/// ends or it is restarted: an alarm. Fields: loads.
inline constexpr std::string_view builder_stuck = "builder_stuck";
/// Models of a kind can be neither built nor served by this process: what runs them is not there. Fields:
/// runtime; reason.
inline constexpr std::string_view runtime_missing = "runtime_missing";
/// The store of artifacts was not searched for what no upload finished; it is tried again. Fields: reason.
inline constexpr std::string_view artifacts_not_listed = "artifacts_not_listed";

/// A record does not fit its topic and is skipped: an alarm. Fields: topic, partition, offset, message.
inline constexpr std::string_view record_unreadable = "record_unreadable";
/// A worker's consumer group cannot continue: an alarm. Fields: group, reason.
inline constexpr std::string_view worker_group_failed = "worker_group_failed";
/// The log refuses a worker's record; it is retried and blocks its partition. Fields: topic, reason.
inline constexpr std::string_view worker_append_refused = "worker_append_refused";

/// This node publishes under a new claim, or no longer does. Fields: token.
inline constexpr std::string_view publisher_started = "publisher_started";
inline constexpr std::string_view publisher_stopped = "publisher_stopped";
/// An append by the publisher failed: a new producer continues from the tails; also once a minute while none
/// succeeds. Fields: reason, since, seconds.
inline constexpr std::string_view publisher_restarts = "publisher_restarts";
/// The publisher's appends succeed again. Fields: since, seconds.
inline constexpr std::string_view publisher_goes_on = "publisher_goes_on";
/// Partitions cannot be read or written; the publisher retries and continues with the others; also once a
/// minute while that lasts. Fields: partition (topic[number] of one of them), reason, since, seconds.
inline constexpr std::string_view publisher_partition_rests = "publisher_partition_rests";
/// No partition rests any more. Fields: since, seconds.
inline constexpr std::string_view publisher_partitions_go_on = "publisher_partitions_go_on";
/// The log refuses the record of this event: a marker replaces it, and its deliveries are dead: an alarm.
/// Fields: topic, partition, sequence, event, reason.
inline constexpr std::string_view publisher_event_refused = "publisher_event_refused";
/// A partition has events of a later generation: this node publishes nothing there. Fields: topic, partition.
inline constexpr std::string_view publisher_outdated = "publisher_outdated";
/// The topic `subscribers` cannot be read from the present place; it is read again from its start. Fields:
/// reason.
inline constexpr std::string_view subscribers_unreadable = "subscribers_unreadable";
/// The topic `subscribers` holds fewer webhooks than it says, as after it was deleted: deliveries of the
/// missing ones wait until the publisher has repaired it (it compares every ten minutes). Fields: missing.
inline constexpr std::string_view subscribers_incomplete = "subscribers_incomplete";

/// A message from the Kafka client library. Fields: facility, message.
inline constexpr std::string_view kafka_message = "kafka_message";
/// A client that is being closed hangs and is left to its thread.
inline constexpr std::string_view kafka_client_hangs = "kafka_client_hangs";
/// No producer client can be made; retried. Fields: reason.
inline constexpr std::string_view kafka_producer_failed = "kafka_producer_failed";
/// A producer client broke: another one continues, and the outcome of open appends is unknown. Fields:
/// reason.
inline constexpr std::string_view kafka_producer_broken = "kafka_producer_broken";
/// A reader's client fell silent although there is more: another one continues. Fields: partition, offset.
inline constexpr std::string_view kafka_reader_replaced = "kafka_reader_replaced";
/// A group member's client fell silent or broke: another one joins. Fields: group.
inline constexpr std::string_view kafka_member_replaced = "kafka_member_replaced";
/// A group member, its partitions or its commit had an error that is temporary or causes repeats; also once a
/// minute while that lasts. Fields: group (one of them), reason, since, seconds.
inline constexpr std::string_view kafka_member_error = "kafka_member_error";
/// All group members read or commit again. Fields: since, seconds.
inline constexpr std::string_view kafka_member_works = "kafka_member_works";
/// No client has a connection to this broker, and none comes about; also once a minute while that lasts.
/// Fields: broker, reason, since, seconds.
inline constexpr std::string_view kafka_broker_unreachable = "kafka_broker_unreachable";
/// It is connected to again. Fields: broker, since, seconds.
inline constexpr std::string_view kafka_broker_reachable = "kafka_broker_reachable";
/// The brokers are contacted. A start waits for them as long as it takes, other verbs at most 30 s. Fields:
/// brokers.
inline constexpr std::string_view kafka_waiting = "kafka_waiting";
/// `init` created topics. Fields: topics, replicas.
inline constexpr std::string_view kafka_topics_created = "kafka_topics_created";
/// A topic is not as Herald needs it; the message ends with the commands that fix it. Fields: topic, message.
inline constexpr std::string_view kafka_topic_differs = "kafka_topic_differs";
/// The settings of topics may not be read, so they are not compared. Fields: reason.
inline constexpr std::string_view kafka_topics_unseen = "kafka_topics_unseen";
/// The command log has one copy: losing that disk loses everything. Fields: topic.
inline constexpr std::string_view kafka_single_copy = "kafka_single_copy";
/// The brokers forget a group's offsets in less than a month. Fields: minutes, minutes_min.
inline constexpr std::string_view kafka_offsets_kept_too_short = "kafka_offsets_kept_too_short";
/// A model can be asked for predictions here. Fields: build, runtime, took_ms.
inline constexpr std::string_view model_loaded = "model_loaded";
/// The run with zeros that warms a model up failed; the model is served all the same. Fields: build, reason.
inline constexpr std::string_view model_refused_zeros = "model_refused_zeros";
/// A model cannot be loaded here; tried again while something needs it. Fields: build, runtime, reason.
inline constexpr std::string_view model_not_loaded = "model_not_loaded";
/// One of the predictions that are logged (--prediction-log-rate). Fields: endpoint, build, status,
/// duration_us, request_id.
inline constexpr std::string_view prediction = "prediction";

}  // namespace herald::runtime::log_events
