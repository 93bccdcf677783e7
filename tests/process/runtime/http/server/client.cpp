#include "tests/process/runtime/http/server/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/http/server/error_response.hpp"
#include "runtime/text.hpp"

namespace herald::test {

using namespace runtime::http::server;

namespace {

constexpr int patience_ms = 10'000;

bool is_ready(int socket, short events, int ms) {
    pollfd watched{socket, events, 0};
    return ::poll(&watched, 1, ms) == 1;
}

}  // namespace

std::vector<std::string> answer::headers(std::string_view name) const {
    std::vector<std::string> out;
    for (std::size_t at = head.find("\r\n"); at + 4 < head.size();) {
        const std::size_t end = head.find("\r\n", at + 2);
        const std::string line = head.substr(at + 2, end - at - 2);
        const std::size_t colon = line.find(": ");
        if (line.substr(0, colon) == name) out.push_back(line.substr(colon + 2));
        at = end;
    }
    return out;
}

std::string answer::header(std::string_view name) const {
    const auto all = headers(name);
    EXPECT_EQ(all.size(), 1u) << name << " in\n" << head;
    return all.empty() ? "" : all.front();
}

bool answer::closes() const { return headers("connection") == std::vector<std::string>{"close"}; }

client::client(std::uint16_t port, const char* own_address)
    : x_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* address = reinterpret_cast<const sockaddr*>(&where);
    sockaddr_in from{};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, own_address, &from.sin_addr);
    if (x_socket < 0 || ::bind(x_socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(x_socket, address, sizeof where) != 0)
        throw std::runtime_error("cannot connect");
}

client::~client() {
    if (x_socket >= 0) ::close(x_socket);
}

client::client(client&& other) noexcept
    : x_socket(std::exchange(other.x_socket, -1)), x_received(std::move(other.x_received)) {}

void client::send(std::string_view bytes) { EXPECT_TRUE(try_send(bytes)); }

bool client::try_send(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!is_ready(x_socket, POLLOUT, patience_ms)) return false;
        const ssize_t sent = ::send(x_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void client::finish() { ::shutdown(x_socket, SHUT_WR); }

bool client::hears_within(int ms) { return !x_received.empty() || is_ready(x_socket, POLLIN, ms); }

void client::read_slowly(int bytes) { ::setsockopt(x_socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }

// False when the connection has ended, or when nothing arrives for too long.
bool client::fill() {
    if (!is_ready(x_socket, POLLIN, patience_ms)) {
        ADD_FAILURE() << "nothing came for " << patience_ms << " ms";
        return false;
    }
    std::array<char, 64 * 1024> bytes;
    const ssize_t got = ::recv(x_socket, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    x_received.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

answer client::receive(std::string_view method) {
    answer out;
    std::size_t end = 0;
    while ((end = x_received.find("\r\n\r\n")) == std::string::npos)
        if (!fill()) return {};
    out.head = x_received.substr(0, end + 4);
    x_received.erase(0, end + 4);
    out.status = std::stoi(out.head.substr(9, 3));
    const auto lengths = out.headers("content-length");
    const std::size_t length = lengths.empty() || method == "HEAD" ? 0 : std::stoul(lengths.front());
    while (x_received.size() < length)
        if (!fill()) return {};
    out.body = x_received.substr(0, length);
    x_received.erase(0, length);
    return out;
}

bool client::is_closed() {
    while (x_received.empty())
        if (!fill()) return true;
    return false;
}

std::string client::receive_bytes(std::size_t bytes) {
    while (x_received.size() < bytes && fill()) {
    }
    const std::string out = x_received.substr(0, bytes);
    x_received.erase(0, out.size());
    return out;
}

std::string client::receive_all() {
    while (fill()) {
    }
    return std::exchange(x_received, {});
}

bool echo::handle_now(const request& asked, const plan&, runtime::http::http_response& out) {
    ++handled;
    if (asked.path == "/stranger") {
        out.body = "who?";
        return true;
    }
    *asked.is_known = true;
    if (asked.path != "/now") return false;
    out.body = "now";
    return true;
}

boost::asio::awaitable<runtime::http::http_response> echo::handle(const request& asked, const plan&) {
    runtime::http::http_response out;
    if (asked.path == "/throws") throw std::runtime_error("meant to be thrown");
    if (asked.path == "/large") {
        out.body.assign(large_body, 'x');
    } else if (asked.path == "/waits") {
        ++waiting;
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
        while (!let_go) {
            pause.expires_after(std::chrono::milliseconds(1));
            co_await pause.async_wait(boost::asio::use_awaitable);
        }
        out.body = "waited";
    } else if (asked.path == "/empty") {
        out.status = 204;
    } else if (asked.path == "/echo" || asked.path == "/upload") {
        out.content_type = "text/plain";
        out.body = std::string(runtime::http::name_of(asked.method)) + " " + std::string(asked.path) + "?" +
                   std::string(asked.query) + "\n";
        for (const header_view& field : asked.headers)
            out.body += std::string(field.name) + "=" + std::string(field.value) + "\n";
        out.body += asked.body;
    } else {
        out = error_response(runtime::not_found("there is nothing at " + std::string(asked.path)));
    }
    co_return out;
}

boost::asio::awaitable<std::optional<runtime::http::http_response>> echo::judge(const request& head,
                                                                                const plan&) {
    if (head.path != "/refused") co_return std::nullopt;
    co_return error_response(runtime::unauthenticated("nobody is known here"));
}

request_handler& echo::begin(const request& head, plan& out) noexcept {
    ++begun;
    out.body_bytes_max = head.path == "/upload" ? upload_max : body_max;
    return *this;
}

running_server::running_server(server_options options, std::size_t loops) : x_loops({.loops = loops}) {
    options.log = request_log::off;
    auto made = make_server(std::move(options), handler, x_loops);
    if (!made) throw std::runtime_error(made.error().message);
    x_server = std::move(*made);
    x_server->start();
}

std::string running_server::exchange(std::string_view bytes) const {
    client caller = connect();
    caller.try_send(bytes);
    caller.finish();
    return caller.receive_all();
}

std::string get(std::string_view target, std::string_view more_lines) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: herald\r\n" + std::string(more_lines) + "\r\n";
}

std::size_t answers_in(std::string_view bytes) {
    std::size_t count = 0;
    for (std::size_t at = bytes.find("HTTP/1.1 "); at != bytes.npos; at = bytes.find("HTTP/1.1 ", at + 1))
        ++count;
    return count;
}

}  // namespace herald::test
