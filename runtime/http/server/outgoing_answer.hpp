// An answer as bytes that go out: its head, its body, or the pieces of a stream, each framed. No socket.
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

/// What the request says of the form of its answer.
struct answer_form {
    bool is_to_head = false;  // then it has no body
    bool is_http_1_0 = false;
};

/// One answer after another of a connection, to which it belongs. The handler fills get(), begin() says for
/// what request, write_head() and each write_piece() put bytes into unsent(), and sent() takes them out.
class outgoing_answer {
  public:
    http_response& get() noexcept { return x_answer; }
    const http_response& get() const noexcept { return x_answer; }
    void begin(answer_form form) noexcept { x_form = form; }

    /// What is sent of a body that is there as a whole.
    std::string_view body_to_send() const noexcept;
    /// The body is sent as it is made.
    bool is_streaming() const noexcept;
    /// Nothing else shows where the body ends.
    bool ends_with_connection() const noexcept;
    std::uint64_t body_bytes() const noexcept;

    void write_continue();
    void write_head(response_writer&, const answer_facts&);
    /// The next piece of the stream; the empty one is its end. False when the body is not what the head has
    /// promised. The piece is not copied.
    bool write_piece(std::string_view piece);

    const std::array<boost::asio::const_buffer, 2>& unsent() const noexcept { return x_unsent; }
    bool is_sent() const noexcept { return x_unsent[0].size() + x_unsent[1].size() == 0; }
    void sent(std::size_t bytes) noexcept;
    /// Ready for the next answer; a large buffer is not kept.
    void clear();

    /// Larger bodies are sent from where they are, others in one piece with the head.
    static constexpr std::size_t body_bytes_copied_max = 16 * 1024;

  private:
    http_response x_answer;
    answer_form x_form;
    std::string x_text;  // the head and a small body, or the framing of a piece
    std::array<boost::asio::const_buffer, 2> x_unsent;
    std::uint64_t x_streamed_bytes = 0;
};

}  // namespace herald::runtime::http::server
