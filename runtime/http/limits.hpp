// The bounds of HTTP, server and client (http.md §2, §3). Each is tested from outside. Units come last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/limits.hpp"

namespace herald::limits {

// Incoming requests
constexpr std::size_t management_body_bytes_max = 1024 * 1024;  // of a route that sets no larger one
constexpr std::size_t request_target_bytes_max = 2 * 1024;
constexpr std::size_t request_header_bytes_max = 8 * 1024;
constexpr std::size_t request_header_fields_max = 64;
constexpr std::size_t request_id_bytes_max = 128;
constexpr std::int64_t request_header_ms_max = 5'000;
constexpr std::int64_t request_body_ms_base = 15'000;  // plus 1 s for each KiB of the body
static_assert(request_target_bytes_max < request_header_bytes_max, "a header holds its target");
static_assert(request_id_bytes_max < request_header_bytes_max, "and its id");

// Connections of the server; connections_max is among the bounds of descriptors (runtime/limits.hpp)
/// Balancers keep a connection for 60 s, and must close it before Herald does: otherwise a request that is on
/// its way gets a 502.
constexpr std::int64_t connection_idle_ms_max = 75'000;
constexpr std::uint64_t connection_idle_seconds_max = 3'600;  // as an operator may set it
constexpr std::int64_t response_write_ms_max = 30'000;
constexpr std::int64_t connection_linger_ms = 2'000;       // for bytes of a request that was refused
constexpr std::int64_t connection_linger_ms_max = 30'000;  // while they come
constexpr std::uint32_t requests_per_connection_max = 10'000;
constexpr std::size_t connections_share_of_address = 4;  // at most 1/4 of all for one address
constexpr std::size_t connections_leaving_max = 32;      // closed to make room, but not gone yet
constexpr std::size_t operator_connections_max = 64;     // on the address of /healthz, /readyz, /metrics
static_assert(connections_leaving_max < connections_max);
static_assert(operator_connections_max < connections_max);

// Of all connections together
constexpr std::size_t unfinished_bodies_bytes_max = 80 * 1024 * 1024;
/// Small ones have room of their own, so that large ones keep no report and no change out.
constexpr std::size_t small_body_bytes_max = 64 * 1024;
constexpr std::size_t unfinished_small_bodies_bytes_max = 8 * 1024 * 1024;
/// Of requests that have come and are not answered yet, with what their handlers make of them.
constexpr std::size_t finished_bodies_bytes_max = 256 * 1024 * 1024;
constexpr std::size_t unsent_answers_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t unsent_answers_to_strangers_max = 4 * 1024 * 1024;  // to clients without credentials
static_assert(management_body_bytes_max <= unfinished_bodies_bytes_max,
              "each body has room when it is alone");
static_assert(small_body_bytes_max <= unfinished_small_bodies_bytes_max / 64);
static_assert(unfinished_bodies_bytes_max <= finished_bodies_bytes_max);
static_assert(unsent_answers_to_strangers_max < unsent_answers_bytes_max);

// Bodies that are sent or received piece by piece
constexpr std::size_t http_piece_bytes_max = 64 * 1024;
constexpr std::int64_t http_piece_ms_max = 30'000;
constexpr std::int64_t http_stream_bytes_per_second_min = 16 * 1024;
constexpr std::int64_t http_stream_window_ms = 60'000;  // over which that is measured
/// What the kernel may hold of an answer that is not yet sent. It asks for more when half of that has gone.
constexpr std::int64_t http_unsent_bytes_max = 768 * 1024;
constexpr std::int64_t event_heartbeat_ms = 15'000;
constexpr std::size_t events_waiting_bytes_max = 1024 * 1024;  // for one client that does not read them
static_assert(request_header_bytes_max < http_piece_bytes_max,
              "most of such a connection's memory is the piece");
static_assert(http_piece_ms_max <= http_stream_window_ms);
static_assert(http_unsent_bytes_max / 2 < http_stream_bytes_per_second_min * http_piece_ms_max / 1'000,
              "a client that reads at the slowest pace is seen to read");
static_assert(connection_linger_ms < connection_linger_ms_max);
static_assert(http_piece_bytes_max <= unfinished_bodies_bytes_max / 256, "256 of them come at once");
static_assert(event_heartbeat_ms <= connection_idle_ms_max,
              "a proxy that closes idle connections as early as Herald does keeps it open");

// The client
constexpr std::size_t client_connections_max = 1'024;  // active and idle
constexpr std::size_t client_idle_connections_max = 256;
constexpr std::int64_t client_idle_ms_max = 30'000;
constexpr std::size_t client_tls_sessions_max = 1'024;  // kept for resuming
constexpr std::size_t client_addresses_tried_max = 4;   // for one name
constexpr std::int64_t client_deadline_ms = 15'000;
constexpr std::int64_t client_connect_ms = 5'000;
constexpr std::int64_t client_resolve_ms = 2'000;
constexpr std::int64_t client_last_look_ms = 100;   // past a limit, at what has come already
constexpr std::int64_t client_continue_ms = 1'000;  // wait for "100 Continue"; then send the body without it
constexpr std::size_t answer_header_bytes_max = 16 * 1024;
constexpr std::size_t answer_body_bytes_max = 16 * 1024;  // of a collected body, unless the caller sets more
static_assert(client_idle_connections_max <= client_connections_max);
static_assert(client_resolve_ms < client_deadline_ms && client_connect_ms < client_deadline_ms);
static_assert(client_continue_ms < client_deadline_ms,
              "a server that does not know Expect gets the body in time");
/// Allowed in addition to a streamed body and 8 bytes for each of its bytes: tiny chunks are legal.
constexpr std::uint64_t framing_bytes_max = 16 * 1024;
/// Of incomplete framing: the size of a chunk, the trailers.
constexpr std::size_t unread_framing_bytes_max = 16 * 1024;

}  // namespace herald::limits
