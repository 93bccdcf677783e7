// The bounds of events, of their publisher and of the table of subscribers (design.md §1-2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/log/limits.hpp"
#include "schemas/limits.hpp"

namespace herald::limits {

constexpr std::int64_t publisher_stall_ms_max = 30'000;
constexpr std::size_t publisher_records_in_flight_max = 1'024;
constexpr std::size_t publisher_bytes_in_flight_max = 8 * 1024 * 1024;  // plus one row
constexpr std::size_t publisher_partition_records_max = 128;            // in flight, per partition
constexpr std::size_t publisher_partition_bytes_max = 1024 * 1024;      // likewise, plus one row
constexpr std::size_t publisher_rows_per_read_max = 64;
constexpr std::size_t publisher_tails_at_once_max = 8;
constexpr std::int64_t publisher_read_ms_max = 10'000;  // without progress; then the read pauses
constexpr std::int64_t publisher_rest_ms_base = 100;    // after a failure, doubling
constexpr std::int64_t publisher_rest_ms_max = 5'000;
constexpr std::size_t subscriber_changes_per_read_max = 256;
constexpr std::int64_t subscribers_compare_interval_ms = 10 * 60'000;
constexpr std::size_t event_metadata_bytes_max = 32 * 1024;  // all but its entities: audience, envelope, ids
constexpr std::size_t event_bytes_max = 3 * 512 * 1024;
constexpr std::size_t delivery_metadata_bytes_max = 32 * 1024;  // beyond the event: ids, counts, reason
static_assert(2 * entity_json_bytes_max + event_metadata_bytes_max <= event_bytes_max,
              "original and updated");
static_assert(entity_json_bytes_max + entity_bytes_max + event_metadata_bytes_max <= event_bytes_max,
              "PROMOTE, where the JSON text of an attribute's value stands as a string");
static_assert(event_bytes_max + delivery_metadata_bytes_max <= record_bytes_max, "retry and dead");

static_assert(publisher_partition_records_max <= publisher_records_in_flight_max);
static_assert(publisher_partition_bytes_max <= publisher_bytes_in_flight_max);
static_assert(publisher_rows_per_read_max <= publisher_partition_records_max);
static_assert(publisher_rest_ms_base < publisher_rest_ms_max);

}  // namespace herald::limits
