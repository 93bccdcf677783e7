// A client that sends exactly what it is told and reads what arrives, and a server in this process to talk
// to.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/event_loop.hpp"
#include "runtime/http/server/server.hpp"
#include "tests/support/until.hpp"

namespace herald::test {

/// One answer as received.
struct answer {
    int status = 0;
    std::string head;  // including the empty line
    std::string body;

    /// All values of the header, in order; the name in lower case.
    std::vector<std::string> headers(std::string_view name) const;
    /// The value of the only header with this name; otherwise the test fails.
    std::string header(std::string_view name) const;
    bool closes() const;
};

/// A TCP connection with blocking calls that all end within 10 s.
class client {
  public:
    explicit client(std::uint16_t port, const char* own_address = "127.0.0.1");
    ~client();
    client(client&& other) noexcept;
    client& operator=(client&&) = delete;

    void send(std::string_view bytes);
    /// As send, but the peer may have closed; then false.
    bool try_send(std::string_view bytes);
    /// No more bytes will follow.
    void finish();
    /// The next answer; status 0 when the connection ended first. `method` HEAD: there is no body.
    answer receive(std::string_view method = "GET");
    answer ask(std::string_view bytes) {
        send(bytes);
        return receive();
    }
    /// True when the connection ends without another byte.
    bool is_closed();
    /// The next bytes, as many as given; fewer when the connection ends first.
    std::string receive_bytes(std::size_t);
    /// Everything until the connection ends.
    std::string receive_all();
    /// True when bytes arrive within `ms`.
    bool hears_within(int ms);
    /// A small receive buffer, so that the server cannot send much ahead.
    void read_slowly(int bytes = 4096);

  private:
    bool fill();

    int x_socket = -1;
    std::string x_received;
};

/// What the tests ask for:
///   /now           answered at once       /echo     method, target, headers and body, as text
///   /large         a body of 4 MiB        /throws   an exception
///   /waits         answers when let_go    /empty    204
///   /stranger      answered at once       /refused  401 from the header, if the body does not come with it
/// and 404 for any other path. The caller is known after any answer but those to /stranger and /refused.
/// Bodies: 64 KiB on /upload (which echoes), else 1 KiB.
class echo final : public runtime::http::server::request_handler {
  public:
    static constexpr std::size_t body_max = 1024;
    static constexpr std::size_t upload_max = 64 * 1024;
    static constexpr std::size_t large_body = 4 * 1024 * 1024;

    runtime::http::server::request_handler& begin(const runtime::http::server::request&,
                                                  runtime::http::server::plan&) noexcept override;
    bool handle_now(const runtime::http::server::request&, const runtime::http::server::plan&,
                    runtime::http::http_response&) override;
    boost::asio::awaitable<runtime::http::http_response> handle(const runtime::http::server::request&,
                                                                const runtime::http::server::plan&) override;
    boost::asio::awaitable<std::optional<runtime::http::http_response>> judge(
        const runtime::http::server::request&, const runtime::http::server::plan&) override;

    std::atomic<int> begun = 0;    // requests of which it has seen the head
    std::atomic<int> handled = 0;  // requests that reached the handler
    std::atomic<int> waiting = 0;  // in /waits
    std::atomic<bool> let_go = false;
};

/// A server on its own port, with the request log off and one loop by default.
class running_server {
  public:
    explicit running_server(runtime::http::server::server_options options = {}, std::size_t loops = 1);
    ~running_server() { x_server->stop(); }

    client connect(const char* own_address = "127.0.0.1") const {
        return client(x_server->port(), own_address);
    }
    runtime::http::server::server& get() noexcept { return *x_server; }
    /// Sends one request on a new connection; returns the connection's whole output.
    std::string exchange(std::string_view bytes) const;

    echo handler;

  private:
    runtime::event_loops x_loops;
    std::unique_ptr<runtime::http::server::server> x_server;
};

/// "GET <target> HTTP/1.1" with a Host, and these further lines.
std::string get(std::string_view target, std::string_view more_lines = "");
/// How many answers the bytes of a connection hold.
std::size_t answers_in(std::string_view bytes);

}  // namespace herald::test
