// The bounds of a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t path_parameters_max = 8;  // of a route
constexpr std::size_t idempotency_key_bytes_max = 128;
constexpr std::size_t guest_body_bytes_max = 4 * 1024;  // of one whom nobody knows yet
constexpr std::size_t base_url_bytes_max = 512;         // of the URL at which callers reach a node
constexpr std::size_t warning_name_bytes_max = 64;

// Uploads and downloads of artifacts at a time on one node; those of all are in storage/artifacts/limits.hpp
constexpr std::size_t artifact_uploads_of_user_max = 8;
constexpr std::size_t artifact_uploads_of_url_max = 2;
constexpr std::size_t artifact_downloads_of_user_max = 64;
constexpr std::size_t artifact_downloads_of_url_max = 16;

// Deadlines of routes: from a whole request to its answer (program/limits.cpp says what must fit into them)
constexpr std::int64_t read_deadline_ms = 5'000;
constexpr std::int64_t long_read_deadline_ms = 30'000;
constexpr std::int64_t write_deadline_ms = 40'000;

}  // namespace herald::limits
