// The bounds of the Kafka log: mostly how long the brokers may take (kafka.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t kafka_count_ms_max = 5'000;
constexpr std::int64_t kafka_poll_slice_ms_max = 500;        // an answer does not end a wait for records
constexpr std::int64_t kafka_offered_ms_max = 5;             // between looks for the offsets
constexpr std::int64_t kafka_leave_ms_max = 5'000;           // for the destructor
constexpr std::int64_t kafka_member_silent_ms_max = 10'000;  // then the leader is asked
constexpr std::int64_t kafka_overdue_ms_max = 3'000;  // then a record that the leader has should have arrived
constexpr std::int64_t kafka_find_group_ms_max = 30'000;
constexpr std::int64_t kafka_last_request_ms_max = 500;  // for a request that begins as the time runs out
constexpr std::uint64_t kafka_offsets_kept_minutes_min = 30 * 24 * 60;
constexpr std::size_t kafka_brokers_watched_max = 256;
constexpr std::int64_t kafka_close_ms_max = 7'000;  // longer than a question may take
constexpr int kafka_committed_ms_max = 5'000;
/// librdkafka reports on every record within 10 s; a client that does not is broken.
constexpr std::int64_t kafka_producer_silent_ms_max = 15'000;
constexpr std::int64_t kafka_answer_ms_max = 5'000;
/// How long each of a question's requests (three at most) may hold its thread: this long on the first try,
/// and one step longer on each further try.
constexpr std::int64_t kafka_first_try_ms_max = 250;
constexpr std::int64_t kafka_next_try_ms_max = 1'000;  // waiting for a dead leader hides the new one
/// A topic that was just made may be unknown to some broker for a moment.
constexpr std::int64_t kafka_topic_missing_ms_min = 1'000;
constexpr std::int64_t kafka_reader_silent_ms_max = 5'000;  // then the leader is asked
constexpr std::int64_t kafka_admin_request_ms_max = 15'000;
constexpr std::int64_t kafka_admin_pause_ms = 100;  // before it asks again
constexpr std::int64_t kafka_create_topics_ms_max = 60'000;
constexpr std::int64_t kafka_check_topics_ms_max = 30'000;
constexpr std::size_t kafka_framing_bytes_max = 64 * 1024;  // beside a record's key and value

static_assert(kafka_first_try_ms_max < kafka_next_try_ms_max && kafka_next_try_ms_max < kafka_answer_ms_max);
static_assert(kafka_answer_ms_max < kafka_close_ms_max);
static_assert(kafka_overdue_ms_max < kafka_reader_silent_ms_max);

}  // namespace herald::limits
