// Turns an answer into outgoing bytes: its head, its body, or the framed pieces of a stream. No sockets.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/http/message.hpp"
#include "runtime/http/server/response_writer.hpp"

namespace herald::runtime::http::server {

/// How the request determines the form of its answer.
struct answer_form {
    bool is_to_head = false;  // then the answer has no body
    bool is_http_1_0 = false;
};

/// Member of a connection; takes its answers one after another. The handler fills get(), begin() tells which
/// request it is for, write_head() and each write_piece() put bytes into unsent(), and sent() removes them.
class outgoing_answer {
  public:
    http_response& get() noexcept { return x_answer; }
    const http_response& get() const noexcept { return x_answer; }
    void begin(answer_form form) noexcept { x_form = form; }

    /// What is sent of a body that is in memory as a whole.
    std::string_view body_to_send() const noexcept;
    /// The body is sent while it is produced.
    bool is_streaming() const noexcept;
    /// What is in memory until it is read.
    std::size_t bytes_held_max() const noexcept;
    /// Only the end of the connection shows where the body ends.
    bool ends_with_connection() const noexcept;
    std::uint64_t body_bytes() const noexcept;

    void write_continue();
    void write_head(response_writer&, const answer_facts&);
    /// The next piece of the stream; an empty one ends it. False when the body breaks what the head promised.
    /// The piece is not copied.
    bool write_piece(std::string_view piece);
    /// What the stream may send to the socket by itself, past unsent(); 0 when it must not or cannot.
    std::uint64_t bytes_to_send_past() const noexcept;
    void sent_past(std::size_t bytes) noexcept { x_streamed_bytes += bytes; }

    const std::array<boost::asio::const_buffer, 2>& unsent() const noexcept { return x_unsent; }
    bool is_sent() const noexcept { return x_unsent[0].size() + x_unsent[1].size() == 0; }
    void sent(std::size_t bytes) noexcept;
    /// Prepares for the next answer; frees a large buffer.
    void clear();

    /// Larger bodies are sent from where they are; smaller ones together with the head.
    static constexpr std::size_t body_bytes_copied_max = 16 * 1024;

  private:
    http_response x_answer;
    answer_form x_form;
    std::string x_text;  // the head and a small body, or one piece's framing
    std::array<boost::asio::const_buffer, 2> x_unsent;
    std::uint64_t x_streamed_bytes = 0;
};

}  // namespace herald::runtime::http::server
