// A server whose handler takes or produces bodies piece by piece, for the stream tests.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/http/body.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/http/server/event_stream.hpp"
#include "tests/process/runtime/http/server/client.hpp"

namespace herald::test {

inline constexpr std::uint64_t gib = 1024ull * 1024 * 1024;
/// More than the kernel buffers at both ends of a loopback connection hold, much less than a body of 1 GiB.
inline constexpr std::uint64_t buffered_max = 64ull * 1024 * 1024;

class repeating final : public runtime::http::body_stream {
  public:
    repeating(std::uint64_t bytes, std::atomic<std::uint64_t>& made) : x_left(bytes), x_made(made) {}
    boost::asio::awaitable<result<std::string_view>> next() override {
        if (hangs && x_left == 0) {
            boost::asio::steady_timer never(co_await boost::asio::this_coro::executor,
                                            std::chrono::steady_clock::time_point::max());
            co_await never.async_wait(boost::asio::use_awaitable);
        }
        if (x_left == 0 && fails) co_return runtime::unavailable("the disk is gone");
        const std::uint64_t bytes = std::min<std::uint64_t>(x_left, x_piece.size());
        x_left -= bytes;
        x_made += bytes;
        co_return std::string_view(x_piece).substr(0, bytes);
    }
    bool can_send_to_socket() const noexcept override { return sends && (x_left > 0 || fails); }
    boost::asio::awaitable<result<std::size_t>> send_to(int socket, std::uint64_t bytes_max) override {
        if (x_left == 0) co_return runtime::unavailable("the disk is gone");
        const std::uint64_t wanted = std::min<std::uint64_t>({x_left, bytes_max, x_piece.size()});
        const ssize_t sent = ::send(socket, x_piece.data(), wanted, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) co_return runtime::aborted("the peer is gone");
        const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
        x_left -= bytes;
        x_made += bytes;
        co_return bytes;
    }
    bool fails = false;  // at the end
    bool hangs = false;  // likewise
    bool sends = false;  // to the socket, by itself

  private:
    std::uint64_t x_left;
    std::atomic<std::uint64_t>& x_made;
    const std::string x_piece = std::string(64 * 1024, '~');  // a character that is in no header
};

/// POST /count     reads the body to its end and says how many bytes it had, or the error
/// POST /held      likewise, once let_go
/// POST /ignored   answers without reading
/// POST /refused   401 by the header
/// GET /sized /chunked /fails /short /long    a body of `bytes`, or what goes wrong with one of 100,000 bytes
/// GET /sent /sent_fails    likewise of a body that is sent past the server
/// GET /hangs      a body of 100 bytes whose end never comes
/// GET /events     server-sent events
class streams final : public runtime::http::server::request_handler {
  public:
    explicit streams(runtime::event_loops& loops) : x_loops(loops) {}

    runtime::http::server::request_handler& begin(const runtime::http::server::request& head,
                                                  runtime::http::server::plan& out) noexcept override {
        out.streams_body = head.method == runtime::http::http_method::post;
        out.body_bytes_max = 2 * gib;
        return *this;
    }
    boost::asio::awaitable<std::optional<runtime::http::http_response>> judge(
        const runtime::http::server::request& head, const runtime::http::server::plan&) override {
        if (head.path != "/refused") co_return std::nullopt;
        co_return runtime::http::server::error_response(runtime::unauthenticated("nobody is known here"));
    }

    boost::asio::awaitable<runtime::http::http_response> handle(const runtime::http::server::request& asked,
                                                                const runtime::http::server::plan&) override {
        if (asked.path == "/events") co_return runtime::http::server::answer_of(begin_events());
        if (asked.method != runtime::http::http_method::post) co_return made_body(asked.path);
        ++begun;
        if (asked.path == "/held") {
            boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
            while (!let_go) {
                pause.expires_after(std::chrono::milliseconds(1));
                co_await pause.async_wait(boost::asio::use_awaitable);
            }
        }
        runtime::http::http_response out;
        out.content_type = "text/plain";
        out.body = "0";
        if (asked.path == "/ignored" || asked.stream == nullptr) co_return out;
        std::uint64_t came = 0;
        while (true) {
            const result<std::string_view> piece = co_await asked.stream->next();
            if (!piece) co_return runtime::http::server::error_response(piece.error());
            if (piece->empty()) break;
            came += piece->size();
            largest = std::max<std::size_t>(largest, piece->size());
        }
        out.body = std::string(asked.path) + " " + std::to_string(came);
        co_return out;
    }

    std::atomic<int> begun = 0;
    std::atomic<bool> let_go = false;
    std::atomic<std::size_t> largest = 0;
    std::atomic<std::uint64_t> made = 0;
    std::uint64_t bytes = 100'000;
    runtime::http::server::event_stream_options event_options;
    std::weak_ptr<runtime::http::server::event_stream> events;  // on the loop's thread
    std::atomic<bool> has_events = false;

  private:
    std::shared_ptr<runtime::http::server::event_stream> begin_events() {
        auto begun_now = std::make_shared<runtime::http::server::event_stream>(x_loops[0], event_options);
        events = begun_now;
        has_events = true;
        return begun_now;
    }

    runtime::http::http_response made_body(std::string_view path) {
        runtime::http::http_response out;
        out.content_type = "text/plain";
        auto body = std::make_shared<repeating>(path == "/hangs" ? 100 : bytes, made);
        body->fails = path == "/fails" || path == "/sent_fails";
        body->sends = path == "/sent" || path == "/sent_fails";
        body->hangs = path == "/hangs";
        if (path == "/sized" || path == "/sent") out.stream_bytes = bytes;
        if (path == "/short" || path == "/sent_fails") out.stream_bytes = bytes + 1;
        if (path == "/long") out.stream_bytes = bytes - 1;
        out.stream = std::move(body);
        return out;
    }

    runtime::event_loops& x_loops;
};

/// "POST <path> HTTP/1.1" with a Host, these further lines, and these bytes behind it.
inline std::string post(std::string_view path, std::string_view lines, std::string_view body = "") {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n" +
           std::string(body);
}

class stream_server {
  public:
    using request_log = runtime::http::server::request_log;
    explicit stream_server(runtime::http::server::server_options options = {},
                           request_log log = request_log::off)
        : x_loops({.loops = 1}), handler(x_loops) {
        options.log = log;
        x_server = *runtime::http::server::make_server(std::move(options), handler, x_loops);
        x_server->start();
    }
    ~stream_server() { x_server->stop(); }
    client connect() const { return client(x_server->port()); }
    runtime::http::server::server& get() { return *x_server; }
    runtime::event_loop& loop() { return x_loops[0]; }

  private:
    runtime::event_loops x_loops;
    std::unique_ptr<runtime::http::server::server> x_server;

  public:
    streams handler;
};

}  // namespace herald::test
