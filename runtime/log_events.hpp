// The names of the log's events (runtime/log.hpp), an interface for operators. docs/reference is made of the
// comments: their last sentence names the fields, and ": an alarm." marks what somebody must look at.
#pragma once

#include <string_view>

namespace herald::runtime::log_events {

// The process
/// A start waits for the brokers or for an installation on them. Repeated once a minute while it waits.
/// Fields: waits_for (brokers, installation), reason, since, seconds.
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
/// An environment variable begins with HERALD_ but is not an option. Fields: name, nearest (of the options).
inline constexpr std::string_view environment_unknown = "environment_unknown";
/// At start: the number of file descriptors, and how many are for HTTP clients, receivers of webhooks, and
/// the files of each database. Fields: limit, clients, receivers, database_files.
inline constexpr std::string_view descriptors_shared = "descriptors_shared";
/// A coroutine ended with an exception, which is a bug: an alarm. Fields: task, reason.
inline constexpr std::string_view task_failed = "task_failed";

// Requests
/// One HTTP request was answered. Fields: method, path, status, bytes, duration_us, request_id, remote.
inline constexpr std::string_view request = "request";
/// A request had no valid credentials, or read what the caller may not see; at most one line a second.
/// Fields: reason, method, path, remote, left_out (lines since the last one).
inline constexpr std::string_view access_refused = "access_refused";
/// A handler threw, which is a bug, and the caller got 500; or a streamed body was cut off. Not logged when
/// the server stops. Fields: method, path, request_id, reason.
inline constexpr std::string_view request_failed = "request_failed";
/// For a moment no connection can be accepted, usually for lack of file descriptors. Fields: reason, wait_ms.
inline constexpr std::string_view accept_paused = "accept_paused";

// State and disk
/// This node serves. Fields: node, offset.
inline constexpr std::string_view node_ready = "node_ready";
/// This node cannot continue, and the process ends. Fields: node, reason.
inline constexpr std::string_view node_failed = "node_failed";
/// Nodes at the same offset have different states. Fields: node, offset, agree, differ.
inline constexpr std::string_view node_hash_differs = "node_hash_differs";
/// The state database cannot be read. It is reopened, or rebuilt if it is corrupt. Fields: reason.
inline constexpr std::string_view state_unreadable = "state_unreadable";
/// The state database was damaged and is being rebuilt from the log. Fields: reason.
inline constexpr std::string_view state_rebuild = "state_rebuild";
/// The state database takes no writes, usually because the disk is full. Herald tries again. Fields: reason.
inline constexpr std::string_view state_not_written = "state_not_written";
/// The embedded log takes no writes, usually because the disk is full. Herald tries again. Fields: reason.
inline constexpr std::string_view log_not_written = "log_not_written";
/// The embedded log takes writes again.
inline constexpr std::string_view log_recovered = "log_recovered";
/// A power failure tore the embedded log's unsynced end. The log continues before that point. Fields: reason.
inline constexpr std::string_view log_end_cut = "log_end_cut";
/// Low disk space: most writes are refused. Fields: folder, free_bytes.
inline constexpr std::string_view disk_low = "disk_low";
/// There is room again. Fields: folder, free_bytes.
inline constexpr std::string_view disk_recovered = "disk_recovered";
/// The wall clock differs by over an hour from the embedded log's time, which continues without it: an alarm.
/// Fields: wall_ahead_seconds.
inline constexpr std::string_view clock_off = "clock_off";
/// The wall clock is right again. Fields: wall_ahead_seconds.
inline constexpr std::string_view clock_right = "clock_right";
/// A message from RocksDB. Fields: message.
inline constexpr std::string_view rocksdb_message = "rocksdb_message";

// Snapshots and backups
/// A snapshot of the state was taken. Fields: name, bytes.
inline constexpr std::string_view snapshot_taken = "snapshot_taken";
/// No snapshot could be taken. Herald tries again. Fields: reason.
inline constexpr std::string_view snapshot_failed = "snapshot_failed";
/// A snapshot is damaged, or is of something else. The one before it is used, or the whole log. Fields: name,
/// reason.
inline constexpr std::string_view snapshot_refused = "snapshot_refused";
/// The state begins with a snapshot. Only what came after it is applied again. Fields: name.
inline constexpr std::string_view snapshot_loaded = "snapshot_loaded";
/// A backup that an administrator asked for was made. Fields: name, bytes.
inline constexpr std::string_view backup_made = "backup_made";
/// A backup that an administrator asked for could not be made. Fields: name, reason.
inline constexpr std::string_view backup_failed = "backup_failed";

// Deliveries
/// One attempt was made, possibly a test. Fields: webhook_id, webhook_name, workspace, delivery_id, event_id,
/// event_type, resource_type, resource_id, resource_name (of a version or a build: model/version), source,
/// attempt (its number), result, error (class; none), status (0: no answer), address, duration_us.
inline constexpr std::string_view delivery_attempted = "delivery_attempted";
/// An attempt failed; at most a few lines a minute for one webhook. Fields: webhook_id, webhook_name,
/// workspace, delivery_id, event_id, event_type, resource_type, resource_id, resource_name, attempt (0: none
/// was made), error (class), status, message, next_attempt (empty: none), left_out (lines since the last
/// one).
inline constexpr std::string_view delivery_failed = "delivery_failed";
/// Herald has given a delivery up. Fields: as delivery_failed.
inline constexpr std::string_view delivery_dead = "delivery_dead";
/// A delivery is held because its webhook is disabled. Fields: as delivery_failed.
inline constexpr std::string_view delivery_held = "delivery_held";
/// A delivery is dropped because its webhook was deleted. Fields: as delivery_failed.
inline constexpr std::string_view delivery_skipped = "delivery_skipped";
/// A webhook was disabled, by its own answer or after 5 days of failures. Fields: webhook_id, webhook_name,
/// reason, failing_since (since when it has only failed; empty: no failures before).
inline constexpr std::string_view webhook_disabled = "webhook_disabled";
/// The history of deliveries was damaged and begins anew. Fields: reason.
inline constexpr std::string_view delivery_history_reset = "delivery_history_reset";
/// Partitions of `attempts` cannot be read, or their rows cannot be kept. Repeated once a minute while that
/// lasts. Fields: partition (one of them), reason, since, seconds.
inline constexpr std::string_view delivery_history_trouble = "delivery_history_trouble";
/// All partitions of `attempts` are read again. Fields: since, seconds.
inline constexpr std::string_view delivery_history_recovered = "delivery_history_recovered";
/// Events are missing in a partition: an alarm. Fields: topic, partition, offset, message.
inline constexpr std::string_view sequence_gap = "sequence_gap";
/// A record does not fit its topic and is skipped: an alarm. Fields: topic, partition, offset, message.
inline constexpr std::string_view record_unreadable = "record_unreadable";
/// A worker's consumer group cannot continue: an alarm. Fields: group, reason.
inline constexpr std::string_view worker_group_failed = "worker_group_failed";
/// The log refuses a worker's record, which is retried and blocks its partition. Fields: topic, reason.
inline constexpr std::string_view worker_append_refused = "worker_append_refused";

// The publisher
/// This node publishes under a new claim. Fields: token.
inline constexpr std::string_view publisher_started = "publisher_started";
/// This node no longer publishes. Fields: token.
inline constexpr std::string_view publisher_stopped = "publisher_stopped";
/// An append by the publisher failed. A new producer continues from the tails. Repeated once a minute while
/// none succeeds. Fields: reason, since, seconds.
inline constexpr std::string_view publisher_restarts = "publisher_restarts";
/// The publisher's appends succeed again. Fields: since, seconds.
inline constexpr std::string_view publisher_goes_on = "publisher_goes_on";
/// Partitions cannot be read or written. The publisher retries and continues with the others. Repeated once a
/// minute while that lasts. Fields: partition (topic[number] of one of them), reason, since, seconds.
inline constexpr std::string_view publisher_partition_rests = "publisher_partition_rests";
/// No partition rests any more. Fields: since, seconds.
inline constexpr std::string_view publisher_partitions_go_on = "publisher_partitions_go_on";
/// The log refuses the record of this event. A marker replaces it, and its deliveries are dead: an alarm.
/// Fields: topic, partition, sequence, event, reason.
inline constexpr std::string_view publisher_event_refused = "publisher_event_refused";
/// A partition has events of a later generation, so this node publishes nothing there. Fields: topic,
/// partition.
inline constexpr std::string_view publisher_outdated = "publisher_outdated";
/// The topic `subscribers` cannot be read from the present place. It is read again from its start. Fields:
/// reason.
inline constexpr std::string_view subscribers_unreadable = "subscribers_unreadable";
/// The topic `subscribers` holds fewer webhooks than it says, as after it was deleted. Deliveries of the
/// missing ones wait until the publisher has repaired it (it compares every ten minutes). Fields: missing.
inline constexpr std::string_view subscribers_incomplete = "subscribers_incomplete";

// Artifacts
/// Bytes that the registry no longer has stay in the store of artifacts. Herald tries again. Fields: object,
/// reason.
inline constexpr std::string_view artifact_not_erased = "artifact_not_erased";
/// Bytes that the registry has are missing from the store of artifacts, or differ: an alarm. Fields: object,
/// reason.
inline constexpr std::string_view artifact_damaged = "artifact_damaged";
/// A call on the disk of the store of artifacts, or of copies of models, failed. Fields: what, path, reason.
inline constexpr std::string_view artifact_store_failed = "artifact_store_failed";
/// The store of artifacts was not searched for unfinished uploads. Herald tries again. Fields: reason.
inline constexpr std::string_view artifacts_not_listed = "artifacts_not_listed";

// Builds and predictions
/// A build cannot be made now. Herald tries again. Fields: build, reason.
inline constexpr std::string_view build_waits = "build_waits";
/// Models that do not end to load keep all threads for loading. This process makes no build until one of them
/// ends or the process is restarted: an alarm. Fields: loads.
inline constexpr std::string_view builder_stuck = "builder_stuck";
/// The library that runs models of a kind is missing, so this process neither builds nor serves them. Fields:
/// runtime, reason.
inline constexpr std::string_view runtime_missing = "runtime_missing";
/// A model can be asked for predictions here. Fields: build, runtime, took_ms.
inline constexpr std::string_view model_loaded = "model_loaded";
/// The run with zeros that warms a model up failed. The model is served all the same. Fields: build, reason.
inline constexpr std::string_view model_refused_zeros = "model_refused_zeros";
/// Several runs of a model were stopped by the processor or broke off. The model answers no more on this
/// node: an alarm. Fields: build, reason.
inline constexpr std::string_view model_out_of_service = "model_out_of_service";
/// An operator of a model ended its run and its thread. The thread stays, with so many bytes, until the
/// process ends: an alarm. Fields: build, bytes, reason.
inline constexpr std::string_view model_run_lost = "model_run_lost";
/// A run of a model goes on after its deadline, because an operator does not return. Its thread computes
/// until the process ends. Only the first such run of a model is logged: an alarm. Fields: build, late_ms.
inline constexpr std::string_view model_run_stuck = "model_run_stuck";
/// A model cannot be loaded here. Herald tries again while something needs it. Fields: build, runtime,
/// reason.
inline constexpr std::string_view model_not_loaded = "model_not_loaded";
/// One of the predictions that are logged (--prediction-log-rate). Fields: endpoint, build, status,
/// duration_us, request_id.
inline constexpr std::string_view prediction = "prediction";

// Kafka
/// This process contacts the brokers. A start waits for them as long as it takes, other verbs at most 30 s.
/// Fields: brokers.
inline constexpr std::string_view kafka_waiting = "kafka_waiting";
/// A message from the Kafka client library. Fields: facility, message.
inline constexpr std::string_view kafka_message = "kafka_message";
/// A client that is being closed hangs and is left to its thread.
inline constexpr std::string_view kafka_client_hangs = "kafka_client_hangs";
/// No producer client can be made. Herald tries again. Fields: reason.
inline constexpr std::string_view kafka_producer_failed = "kafka_producer_failed";
/// A producer client broke. Another one continues, and the outcome of open appends is unknown. Fields:
/// reason.
inline constexpr std::string_view kafka_producer_broken = "kafka_producer_broken";
/// A reader's client fell silent although there is more. Another one continues. Fields: partition, offset.
inline constexpr std::string_view kafka_reader_replaced = "kafka_reader_replaced";
/// A group member's client fell silent or broke. Another one joins. Fields: group.
inline constexpr std::string_view kafka_member_replaced = "kafka_member_replaced";
/// A group member, its partitions or its commit had an error that is temporary or causes repeats. Repeated
/// once a minute while that lasts. Fields: group (one of them), reason, since, seconds.
inline constexpr std::string_view kafka_member_error = "kafka_member_error";
/// All group members read or commit again. Fields: since, seconds.
inline constexpr std::string_view kafka_member_works = "kafka_member_works";
/// No client has a connection to this broker, and none can be made. Repeated once a minute while that lasts.
/// Fields: broker, reason, since, seconds.
inline constexpr std::string_view kafka_broker_unreachable = "kafka_broker_unreachable";
/// A client is connected to this broker again. Fields: broker, since, seconds.
inline constexpr std::string_view kafka_broker_reachable = "kafka_broker_reachable";
/// `init` created topics. Fields: topics, replicas.
inline constexpr std::string_view kafka_topics_created = "kafka_topics_created";
/// A topic is not as Herald needs it. The message ends with the commands that fix it. Fields: topic, message.
inline constexpr std::string_view kafka_topic_differs = "kafka_topic_differs";
/// Herald may not read the settings of topics, so it does not compare them. Fields: reason.
inline constexpr std::string_view kafka_topics_unseen = "kafka_topics_unseen";
/// The command log has one copy: losing that disk loses everything. Fields: topic.
inline constexpr std::string_view kafka_single_copy = "kafka_single_copy";
/// The brokers forget a group's offsets in less than a month. Fields: minutes, minutes_min.
inline constexpr std::string_view kafka_offsets_kept_too_short = "kafka_offsets_kept_too_short";

}  // namespace herald::runtime::log_events
