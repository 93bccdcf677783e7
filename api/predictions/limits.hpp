// The bounds of predictions over HTTP; those of an endpoint are in api/serving/limits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t access_token_sent_bytes_max = 1'024;  // longer ones are unknown
/// Refusals that wait for the log, so that no refusal rests on an old state: so many a second, for all
/// callers that share a place in a table of so many places. Beyond that the local state answers (design.md
/// §1).
constexpr std::uint32_t awaited_refusals_per_second = 20;
constexpr std::size_t awaited_refusals_places = 1'024;
constexpr std::int64_t awaited_refusal_ms_max = 5'000;
/// Between two checks whether a caller still waits for a response. A caller who has left keeps their place
/// for so long.
constexpr std::int64_t waiting_look_ms = 200;
/// The largest uncompressed body, and the largest tensors, that are read or written on an event loop, which
/// serves nobody else meanwhile. Threads handle larger ones: each loop has one to read and one to write. So
/// many calls may wait for them; one endpoint may have half as many waiting to be read.
constexpr std::size_t body_bytes_on_loop_max = 64UL * 1024;
constexpr std::size_t bodies_read_beside_loops_max = 64;
constexpr std::size_t bodies_written_beside_loops_max = 4'096;
constexpr std::size_t prediction_answer_bytes_max = 32UL * 1024 * 1024;  // of one that is not a stream
constexpr std::size_t gzip_factor_max = 1'032;     // how much longer deflate can make a body
constexpr std::size_t number_text_bytes_max = 32;  // of a number as it is written
/// Beyond it, a fractional number may stand for another integer than the one that was written.
constexpr std::int64_t exact_integer_max = 9'007'199'254'740'991;

}  // namespace herald::limits
