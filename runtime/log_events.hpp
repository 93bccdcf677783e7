// The names of the log's events (runtime/log.hpp): an interface for operators, so they are all here.
#pragma once

#include <string_view>

namespace herald::runtime::log_events {

/// A coroutine ended with an exception: a bug. Fields: task, reason.
inline constexpr std::string_view task_failed = "task_failed";
/// One HTTP request was answered. Fields: method, path, status, bytes, duration_us, request_id, remote.
inline constexpr std::string_view request = "request";
/// A handler threw: a bug; the caller got 500. Or a streamed body could not be made to its end: the caller
/// sees that it is cut. Not when the server stops. Fields: method, path, request_id, reason.
inline constexpr std::string_view request_failed = "request_failed";
/// At start: how many file descriptors there are, and how many of them HTTP clients may have, receivers of
/// webhooks, and the files of each database. Fields: limit, clients, receivers, database_files.
inline constexpr std::string_view descriptors_shared = "descriptors_shared";
/// No connection can be accepted for a moment, mostly for want of file descriptors. Fields: reason, wait_ms.
inline constexpr std::string_view accept_paused = "accept_paused";
/// The state database cannot be read; it is opened again, or made again where it is corrupt. Fields: reason.
inline constexpr std::string_view state_unreadable = "state_unreadable";
/// The state database was damaged and is made again from the log. Fields: reason.
inline constexpr std::string_view state_rebuild = "state_rebuild";
/// The state database takes no writes, mostly for want of disk; tried again. Fields: reason.
inline constexpr std::string_view state_not_written = "state_not_written";
/// The embedded log takes no writes, mostly for want of disk; tried again. Fields: reason.
inline constexpr std::string_view log_not_written = "log_not_written";
/// The embedded log takes writes again.
inline constexpr std::string_view log_recovered = "log_recovered";
/// The wall clock is over an hour off the embedded log's time, which goes on without it: an alarm. Fields:
/// wall_ahead_seconds.
inline constexpr std::string_view clock_off = "clock_off";
/// It no longer is. Fields: wall_ahead_seconds.
inline constexpr std::string_view clock_right = "clock_right";
/// A power failure tore the embedded log's unsynced end; it goes on before that. Fields: reason.
inline constexpr std::string_view log_end_cut = "log_end_cut";
/// RocksDB has something to say. Fields: message.
inline constexpr std::string_view rocksdb_message = "rocksdb_message";
/// This node serves. Fields: node, offset.
inline constexpr std::string_view node_ready = "node_ready";
/// This node cannot go on; the process ends. Fields: node, reason.
inline constexpr std::string_view node_failed = "node_failed";
/// Nodes at the same offset do not hold the same state. Fields: node, offset, agree, differ.
inline constexpr std::string_view node_hash_differs = "node_hash_differs";
/// Little disk is left: most writes are refused. Fields: folder, free_bytes.
inline constexpr std::string_view disk_low = "disk_low";
/// There is room again. Fields: folder, free_bytes.
inline constexpr std::string_view disk_recovered = "disk_recovered";
/// The history of deliveries was damaged and begins anew. Fields: reason.
inline constexpr std::string_view delivery_history_reset = "delivery_history_reset";
/// A partition of `attempts` cannot be read, or its rows cannot be kept. Fields: partition, reason.
inline constexpr std::string_view delivery_history_trouble = "delivery_history_trouble";
/// Events are missing in a partition: an alarm. Fields: topic, partition, offset, message.
inline constexpr std::string_view sequence_gap = "sequence_gap";
/// A name in the environment that begins with HERALD_ and is no option. Fields: name, nearest (of the
/// options).
inline constexpr std::string_view environment_unknown = "environment_unknown";
/// This API node answers from now on. Fields: version, address, webhook_addresses, webhook_http.
inline constexpr std::string_view serving = "serving";
/// This worker has read what it needs and delivers from now on. Fields: as serving; address is where health
/// and metrics are, if anywhere.
inline constexpr std::string_view delivering = "delivering";
/// Herald made the first administrator's key. Fields: email, key_file.
inline constexpr std::string_view administrator_made = "administrator_made";

/// One attempt was made, a test's too. Fields: webhook_id, delivery_id, event_type, source, attempt (its
/// number), result, error (class; none), status (0: no answer), address, duration_us.
inline constexpr std::string_view delivery_attempted = "delivery_attempted";
/// An attempt failed, a delivery is dead, held because its webhook is disabled, or dropped because it was
/// deleted; not more than a few a minute of one webhook. Fields: webhook_id, webhook_name, delivery_id,
/// event_type, attempt (0: none was made), error (class), status, message, next_attempt (empty: none),
/// left_out (lines since the last one).
inline constexpr std::string_view delivery_failed = "delivery_failed";
inline constexpr std::string_view delivery_dead = "delivery_dead";
inline constexpr std::string_view delivery_held = "delivery_held";
inline constexpr std::string_view delivery_skipped = "delivery_skipped";
/// A webhook was disabled, by its own answer or after 5 days of failures. Fields: webhook_id, webhook_name,
/// reason, failing_since (since when it had nothing but failures; empty: it had none before).
inline constexpr std::string_view webhook_disabled = "webhook_disabled";

/// A record is not what its topic holds and is passed over: an alarm. Fields: topic, partition, offset,
/// message.
inline constexpr std::string_view record_unreadable = "record_unreadable";
/// A worker's consumer group cannot go on: an alarm. Fields: group, reason.
inline constexpr std::string_view worker_group_failed = "worker_group_failed";
/// The log refuses a worker's record; it is tried again and holds up its partition. Fields: topic, reason.
inline constexpr std::string_view worker_append_refused = "worker_append_refused";

/// This node publishes under a new claim, or no longer. Fields: token.
inline constexpr std::string_view publisher_started = "publisher_started";
inline constexpr std::string_view publisher_stopped = "publisher_stopped";
/// An append of the publisher failed: a new producer goes on from the tails. Fields: reason.
inline constexpr std::string_view publisher_restarts = "publisher_restarts";
/// A partition cannot be read or written; the publisher tries again and goes on with the others. Fields:
/// topic, partition, reason.
inline constexpr std::string_view publisher_partition_rests = "publisher_partition_rests";
/// The log takes no record of this event: a marker goes in its place, its deliveries are dead: an alarm.
/// Fields: topic, partition, sequence, event, reason.
inline constexpr std::string_view publisher_event_refused = "publisher_event_refused";
/// A partition has events of a later generation: this node publishes nothing there. Fields: topic, partition.
inline constexpr std::string_view publisher_outdated = "publisher_outdated";
/// The topic `subscribers` cannot be read from where it was; it is read again from its start. Fields: reason.
inline constexpr std::string_view subscribers_unreadable = "subscribers_unreadable";
/// The topic `subscribers` holds fewer webhooks than it says, as after it was deleted: until the publisher
/// has mended it (it compares every ten minutes) the deliveries of the others wait. Fields: missing.
inline constexpr std::string_view subscribers_incomplete = "subscribers_incomplete";

/// The Kafka client library has something to say. Fields: facility, message.
inline constexpr std::string_view kafka_message = "kafka_message";
/// A client that is being closed hangs and is left to its thread.
inline constexpr std::string_view kafka_client_hangs = "kafka_client_hangs";
/// No client for appending can be made; tried again. Fields: reason.
inline constexpr std::string_view kafka_producer_failed = "kafka_producer_failed";
/// A client for appending broke: another goes on, and what was open is unknown. Fields: reason.
inline constexpr std::string_view kafka_producer_broken = "kafka_producer_broken";
/// A reader's client fell silent though there is more: another goes on. Fields: partition, offset.
inline constexpr std::string_view kafka_reader_replaced = "kafka_reader_replaced";
/// A group member's client fell silent or broke: another joins. Fields: group.
inline constexpr std::string_view kafka_member_replaced = "kafka_member_replaced";
/// A group member, its partitions or its commit met an error that passes or repeats records. Fields: group,
/// reason.
inline constexpr std::string_view kafka_member_error = "kafka_member_error";
/// A start asks for the brokers, and waits for them at most 30 s. Fields: brokers.
inline constexpr std::string_view kafka_waiting = "kafka_waiting";
/// `init` made topics. Fields: topics, replicas.
inline constexpr std::string_view kafka_topics_created = "kafka_topics_created";
/// A topic is not as Herald needs it; the message ends with the commands that mend it. Fields: topic,
/// message.
inline constexpr std::string_view kafka_topic_differs = "kafka_topic_differs";
/// The settings of topics may not be seen, so that nobody compares them. Fields: reason.
inline constexpr std::string_view kafka_topics_unseen = "kafka_topics_unseen";
/// The command log has one copy: whoever loses that disk loses everything. Fields: topic.
inline constexpr std::string_view kafka_single_copy = "kafka_single_copy";
/// The brokers forget a group's offsets before a month is over. Fields: minutes, minutes_min.
inline constexpr std::string_view kafka_offsets_kept_too_short = "kafka_offsets_kept_too_short";

}  // namespace herald::runtime::log_events
