// Parses an HTTP answer from whatever pieces arrive, within limits. No sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"

namespace herald::runtime::http::client {

/// What happens to the body of an answer.
enum class answer_body : std::uint8_t {
    collected,  // kept up to a limit; a longer body is cut there, and reading stops
    streamed,   // of any length: the caller takes what each feed() has put into body()
    /// Collected when it is said to be within the limit, or has come with its head; else streamed.
    collected_if_short,
};

struct answer_form {
    http_method asked = http_method::post;  // the request's method: an answer to HEAD has no body
    answer_body body = answer_body::collected;
    std::size_t body_bytes_max = limits::answer_body_bytes_max;  // of a collected body
};

/// For one answer. Used on one thread. Holds at most limits::answer_header_bytes_max of header (interim 1xx
/// answers count) and either body_bytes_max of body or, streamed, no more than was fed since the caller
/// emptied body(). A longer header is a failure, and so is framing (sizes and extensions of chunks, trailers)
/// out of all proportion to a streamed body. Nothing is decompressed and no redirect followed.
class answer_parser {
  public:
    enum class progress : std::uint8_t {
        more,      // call feed() again
        complete,  // status, headers and body have arrived
        failed,    // not HTTP, or not within the limits: see failure()
    };

    explicit answer_parser(const answer_form& = {});
    ~answer_parser();
    answer_parser(const answer_parser&) = delete;
    answer_parser& operator=(const answer_parser&) = delete;

    /// Must not be called again unless the last result was `more`.
    progress feed(std::string_view bytes);
    /// The receiver will send no more.
    progress end();

    /// True once the header of the final answer has ended: status() and headers() are known.
    bool has_head() const noexcept;
    /// How long the body is, if the head says so; 0 where there is none. Once there is a head.
    std::optional<std::uint64_t> body_bytes() const noexcept;
    /// True once "100 Continue" has arrived.
    bool is_asked_to_continue() const noexcept;
    /// True when a collected body was longer than its limit.
    bool is_cut() const noexcept;
    std::uint16_t status() const noexcept;
    std::vector<header>& headers() noexcept;
    std::string& body() noexcept;
    const std::string& failure() const noexcept;
    /// True if the answer's framing says where it ends, it ended there, and the receiver keeps the connection
    /// open.
    bool leaves_connection_usable() const noexcept;

  private:
    class implementation;
    std::unique_ptr<implementation> x_implementation;
};

}  // namespace herald::runtime::http::client
