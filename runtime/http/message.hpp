// HTTP messages in the form that handlers and callers see: no parser, no sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace herald::runtime::http {

enum class http_method : std::uint8_t { get, head, post, put, patch, delete_, options, trace, query };

std::string_view name_of(http_method) noexcept;

struct header {
    std::string name;
    std::string value;
};

class body_stream;
struct http_response;

/// A last word before an answer, and after it.
class send_guard {
  public:
    virtual ~send_guard() = default;
    /// Once, when the answer, or the last piece of its stream, has been passed to the kernel, or the client
    /// takes no more: with the status that was sent, 500 if the stream broke off.
    virtual void ended([[maybe_unused]] std::uint16_t status) const {}
    /// Called in the step in which the first byte goes out, and before, in each step that tries to send it.
    /// An answer that may be sent goes in the place of one that may not.
    virtual std::optional<http_response> instead() const = 0;
};

struct http_response {
    std::uint16_t status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<header> headers;  // in addition to content-type, content-length, date and svc-request-id
    std::string head_lines;       // more of them, as whole lines that are sent as they are
    /// A further name under which the request's id is sent; a literal. Empty: none.
    std::string_view id_also_as;
    /// Asked until it has another answer, or the first byte has gone out; if not null.
    std::shared_ptr<const send_guard> guard;
    /// Replaces `body` if not null: sent while it is produced. An error in it, or a piece too many or too
    /// few, ends the connection in a way that shows the client that the body is incomplete.
    std::shared_ptr<body_stream> stream;
    std::optional<std::uint64_t> stream_bytes;  // in total, if known; otherwise the body is sent in chunks
};

}  // namespace herald::runtime::http
