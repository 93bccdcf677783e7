// The bounds of the store of artifacts, and of what collects in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t artifact_uploads_max = 64;  // at a time, on one node
constexpr std::size_t artifact_downloads_max = 256;
constexpr std::size_t artifact_buffer_bytes = 256 * 1024;     // written at a time, of two for each upload
constexpr std::size_t artifact_piece_bytes = 256 * 1024;      // read at a time, of two for each download
constexpr std::size_t artifact_sent_at_once_bytes = 4 << 20;  // by the kernel, of one download
constexpr std::size_t artifact_comparisons_max = 2;  // of whole objects with their digests, at a time
constexpr std::size_t artifact_threads =
    4;  // for calls that write to the store's disk, and as many for reading
constexpr std::size_t artifact_calls_waiting_max = 512;     // for one of either
constexpr std::uint64_t artifact_flush_bytes = 8ull << 20;  // after each of these the kernel begins to write
/// Above what the disk's guard keeps free, uploads leave room for all buffers that may be on their way to it.
constexpr std::uint64_t artifact_room_kept_bytes = 2ull * artifact_uploads_max * artifact_buffer_bytes;
constexpr std::size_t verified_objects_max = 4'096;  // remembered: their bytes match their digests
constexpr std::size_t store_owner_bytes_max = 256;   // of the mark that says whose bytes they are
constexpr std::size_t listed_objects_max = 300;      // in one listing
constexpr std::int64_t stray_object_kept_ms = 48ll * 3'600'000;  // of no row, until it is collected
constexpr std::int64_t collection_interval_ms = 10'000;
constexpr std::int64_t stray_search_interval_ms = 6ll * 3'600'000;

static_assert(2 * artifact_uploads_max <= artifact_calls_waiting_max, "each upload has its turn");
static_assert(artifact_downloads_max + artifact_comparisons_max <= artifact_calls_waiting_max,
              "and each download");
static_assert(artifact_comparisons_max < artifact_threads, "downloads go on beside comparisons");
/// How often a folder for temporary files is made again when another process took it for a dead one's.
constexpr int opening_tries_max = 100;

// The store in a bucket of S3
constexpr std::size_t s3_prefix_bytes_max = 256;  // of all keys
constexpr std::size_t s3_uploads_max = 16;        // at a time, on one node: each may hold one part in memory
constexpr std::int64_t s3_place_wait_ms_max = 10'000;       // for one of these places
constexpr std::size_t s3_part_bytes = 8 * 1024 * 1024;      // of an upload; shorter ones are sent at once
constexpr std::size_t s3_parts_max = 10'000;                // Amazon's
constexpr std::size_t s3_whole_bodies_bytes_max = 1 << 20;  // longer ones are sent piece by piece
constexpr std::int64_t s3_upload_ms_max = 24ll * 3'600'000;
constexpr int s3_attempts_max = 4;                     // at one call
constexpr std::int64_t s3_deadline_ms = 10'000;        // of an attempt
constexpr std::int64_t s3_completing_ms_max = 60'000;  // of one that puts parts together
constexpr std::int64_t s3_piece_ms_max = 10'000;       // without a byte, of a body in either direction
constexpr std::int64_t s3_pause_ms = 200;  // before the second attempt; then twice as long each time
constexpr std::size_t s3_answer_bytes_max = 1 << 20;  // of an answer other than an object
constexpr std::size_t s3_failure_bytes_max = 16 * 1024;
constexpr std::size_t s3_connections_max = 128;  // of one event loop
constexpr std::size_t s3_idle_connections_max = 16;
static_assert(s3_part_bytes >= 5 * 1024 * 1024, "Amazon takes no shorter part, but for the last");
static_assert(s3_whole_bodies_bytes_max < s3_part_bytes);
static_assert(s3_uploads_max * s3_part_bytes <= 128 * 1024 * 1024, "in memory");
static_assert(2 * s3_upload_ms_max <= stray_object_kept_ms, "nothing that is arriving is taken for a stray");
static_assert(s3_uploads_max + s3_idle_connections_max < s3_connections_max);

}  // namespace herald::limits
