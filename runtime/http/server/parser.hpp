// Turns bytes into requests, with every check of http.md §2: a state machine without sockets or clocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/error.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::runtime::http::server {

/// Reads the requests of one connection, one after another, into one buffer. Member of that connection.
///
///     space(), received()   put bytes in
///     advance()             says what they amount to: call it until it wants more
///     next()                drops the answered request; bytes after it stay
///
/// Bounds: limits::request_*; the buffer holds at most a header, the body and 16 KiB of framing.
class request_parser {
  public:
    /// The size of a request whose body is streamed: head, framing and one piece.
    static constexpr std::size_t streamed_bytes_max =
        limits::request_header_bytes_max + 16 * 1024 + limits::http_piece_bytes_max;

    enum class progress : std::uint8_t {
        need_more,  // supply more bytes
        head,       // the header is complete and a body follows: call allow_body()
        complete,   // get() is a complete request
        failed,     // answer failure() and close: the rest cannot be trusted
    };

    request_parser();
    ~request_parser();
    request_parser(const request_parser&) = delete;
    request_parser& operator=(const request_parser&) = delete;

    /// Where the next bytes go; never empty.
    std::span<char> space();
    void received(std::size_t bytes) noexcept { x_used += bytes; }
    progress advance();
    /// To be called after progress::head: the body may have this many bytes. False when it is known to have
    /// more.
    bool allow_body(std::size_t bytes_max);
    /// To be called after allow_body(): the body is taken piece by piece. The buffer gets a size that it
    /// keeps until next(), so that the views of the head stay valid; space() may be called only after piece()
    /// was dropped.
    void stream_body();
    /// After advance(): the part of the body that has arrived and was not dropped.
    std::string_view piece() const noexcept { return {begin() + x_head_bytes, x_body_bytes}; }
    void drop_piece() noexcept;
    void next();
    /// The connection ends after this request's answer: frees the body, and what follows it, at once. The
    /// head stays for get(). After this, nothing but get(), failure() and what is known of the head may be
    /// asked for.
    void drop_body();
    /// Frees the head, too: after this, nothing may be called.
    void release() noexcept;

    /// The request so far: its head after progress::head, and its body after progress::complete. Its views
    /// are valid until space() or next(). The connection fills in the addresses, request_id and loop_index.
    request& get() noexcept { return x_request; }
    const request& get() const noexcept { return x_request; }
    const error& failure() const noexcept { return x_failure; }
    /// True before the first byte of a request.
    bool is_idle() const noexcept { return x_stage == stage::head && x_used == x_start; }
    /// True once the header is complete.
    bool has_head() const noexcept { return x_has_head; }
    bool is_head_request() const noexcept { return x_has_head && x_request.method == http_method::head; }
    /// Received bytes of this request and of what follows it.
    std::size_t held_bytes() const noexcept { return x_used - x_start; }
    /// Received bytes of the body.
    std::size_t body_bytes() const noexcept { return x_dropped_bytes + x_body_bytes; }
    /// The client wants the connection to stay open after this request.
    bool keep_alive() const noexcept;
    bool is_http_1_0() const noexcept;
    /// The client waits for "100 Continue" before it sends the body, and none of it has arrived.
    bool expects_continue() const noexcept;

  private:
    enum class stage : std::uint8_t { head, sized_body, chunked_body, complete, failed };
    struct header_reader;

    progress advance_head();
    progress advance_sized_body();
    progress advance_chunked_body();
    progress finish();
    bool is_framing_unbounded() const noexcept;
    progress fail_too_large();
    progress fail_chunks(int beast_code);
    progress fail(std::uint16_t status, std::string message);
    progress check_head();
    void show_head();
    void make_room(std::size_t bytes);
    void shrink();
    std::size_t waiting() const noexcept { return x_used - x_start - x_parsed; }
    char* begin() const noexcept { return x_buffer.get() + x_start; }

    std::unique_ptr<char[]> x_buffer;
    std::size_t x_capacity = 0;
    std::size_t x_start = 0;   // of the request
    std::size_t x_parsed = 0;  // bytes of the request that were parsed
    std::size_t x_used = 0;    // end of the received bytes
    std::size_t x_head_bytes = 0;
    std::size_t x_body_bytes = 0;
    std::size_t x_sized_body_bytes = 0;  // according to Content-Length
    std::size_t x_dropped_bytes = 0;     // of the body, by drop_piece()
    bool x_is_streamed = false;
    stage x_stage = stage::head;
    bool x_has_head = false;
    bool x_skipped_line = false;
    std::unique_ptr<header_reader> x_reader;
    request x_request;
    std::array<header_view, limits::request_header_fields_max> x_fields;
    error x_failure;
};

}  // namespace herald::runtime::http::server
