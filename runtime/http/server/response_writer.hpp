// The bytes of an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

/// What the connection knows about an answer beyond what the handler said.
struct answer_facts {
    std::string_view request_id;
    /// The name under which the caller sent the id, unless that is one of the server's own names.
    std::string_view echo_name;
    bool is_http_1_0 = false;
    bool closes = false;  // the connection closes after this answer
};

/// Writes heads of answers. One for each loop, since it caches the date of the current second.
class response_writer {
  public:
    explicit response_writer(const std::vector<std::string>& header_prefixes);

    /// Replaces `out` with the head, including the empty line. A status of 1xx, 204 or 304 has no
    /// content-length; a stream of unknown length is chunked or, with HTTP/1.0, ends with the connection.
    /// Control characters in header values become spaces. A header svc-… is written once under each prefix.
    void write_head(std::string& out, const http_response&, const answer_facts&);
    /// The header names for request ids, sent and understood, in lower case: "svc-request-id".
    const std::vector<std::string>& request_id_names() const noexcept { return x_request_id_names; }

  private:
    const std::vector<std::string> x_prefixes;
    std::vector<std::string> x_request_id_names;
    std::time_t x_date_of = 0;
    std::string x_date_line;
};

enum class chunk_place : std::uint8_t { first, later };

/// Replaces `out` with what comes before the bytes of a chunk: the end of the previous chunk, and the size;
/// with no bytes, the end of the body.
void write_chunk_line(std::string& out, std::size_t bytes, chunk_place);

/// True if an answer with this status never has a body (RFC 9110 §6.4.1).
bool is_bodiless(std::uint16_t status) noexcept;

}  // namespace herald::runtime::http::server
