// Plain blocking sockets and poll(2): nothing here shares code with what it tests.
#include "tests/process/workers/receiver.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <stdexcept>

namespace herald::test {

namespace {

constexpr int look_up_interval_ms = 10;  // how soon a thread notices that the test is over

void expect(bool success, const char* what) {
    if (!success) throw std::runtime_error(std::string("the test's receiver: ") + what);
}

std::size_t content_length(std::string header) {
    std::transform(header.begin(), header.end(), header.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const auto at = header.find("\r\ncontent-length: ");
    return at == std::string::npos ? 0 : std::stoul(header.substr(at + 18));
}

}  // namespace

peer::~peer() {
    if (x_ssl != nullptr) {
        SSL_shutdown(x_ssl);
        SSL_free(x_ssl);
    }
    if (x_socket >= 0) ::close(x_socket);
}

bool peer::secure(SSL_CTX* context) {
    x_ssl = SSL_new(context);
    SSL_set_fd(x_ssl, x_socket);
    const timeval patience{5, 0};  // a silent client must not block the test
    ::setsockopt(x_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool accepted = SSL_accept(x_ssl) == 1;
    if (!accepted) {
        SSL_free(x_ssl);
        x_ssl = nullptr;
    }
    return accepted;
}

bool peer::wait(short events, int timeout_ms) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!x_stopped) {
        pollfd one{x_socket, events, 0};
        if (::poll(&one, 1, look_up_interval_ms) > 0) return true;
        if (timeout_ms >= 0 && std::chrono::steady_clock::now() >= until) return false;
    }
    return false;
}

std::string peer::read_some(std::size_t bytes) {
    const bool has_some = x_ssl != nullptr && SSL_pending(x_ssl) > 0;
    if (!has_some && !wait(POLLIN, -1)) return {};
    std::string out(bytes, '\0');
    const auto length = static_cast<int>(bytes);
    const auto got =
        x_ssl != nullptr ? SSL_read(x_ssl, out.data(), length) : ::recv(x_socket, out.data(), bytes, 0);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
}

std::string peer::read_request() {
    std::string text;
    while (true) {
        const auto header_end = text.find("\r\n\r\n");
        if (header_end != std::string::npos && text.size() >= header_end + 4 + content_length(text))
            return text;
        const std::string more = read_some(64 * 1024);
        if (more.empty()) return {};
        text += more;
    }
}

bool peer::send(std::string_view text) {
    while (!text.empty()) {
        if (!wait(POLLOUT, -1)) return false;
        // Must not block in the call: the test's end must be noticed.
        const std::string_view piece = text.substr(0, 4096);
        const auto sent = x_ssl != nullptr
                              ? SSL_write(x_ssl, piece.data(), static_cast<int>(piece.size()))
                              : ::send(x_socket, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool peer::drip(std::string_view text, int rest_ms) {
    for (const char& c : text) {
        if (!send(std::string_view(&c, 1))) return false;
        if (wait(POLLRDHUP, rest_ms) || x_stopped) return false;
    }
    return true;
}

void peer::hang() {
    std::array<char, 4096> unread{};
    while (wait(POLLIN | POLLRDHUP, -1)) {
        if (::recv(x_socket, unread.data(), unread.size(), 0) <= 0) return;
    }
}

void peer::ignore() { wait(POLLRDHUP, -1); }

void peer::take_no_more() {
    const int least = 1;
    ::setsockopt(x_socket, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
}

void peer::half_close() { ::shutdown(x_socket, SHUT_WR); }

void peer::reset() {
    const linger at_once{1, 0};
    ::setsockopt(x_socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (x_ssl != nullptr) SSL_set_quiet_shutdown(x_ssl, 1);
    ::close(x_socket);
    x_socket = -1;
}

bool peer::is_resumed() const { return SSL_session_reused(x_ssl) == 1; }

std::string peer::server_name() const {
    const char* const name = SSL_get_servername(x_ssl, TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
}

receiver::receiver(script to_play, options wanted) : x_script(std::move(to_play)), x_options(wanted) {
    x_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (wanted.receive_buffer_bytes != 0)  // before listen(): it bounds the window that is offered first
        ::setsockopt(x_listener, SOL_SOCKET, SO_RCVBUF, &wanted.receive_buffer_bytes, sizeof(int));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, wanted.address, &address.sin_addr);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    expect(x_listener >= 0 && ::bind(x_listener, generic, length) == 0 && ::listen(x_listener, 64) == 0,
           "listen");
    expect(::getsockname(x_listener, generic, &length) == 0, "getsockname");
    x_port = ntohs(address.sin_port);
    if (wanted.tls != nullptr) {
        x_tls = SSL_CTX_new(TLS_server_method());
        expect(SSL_CTX_use_certificate(x_tls, wanted.tls->certificate.get()) == 1, "certificate");
        expect(SSL_CTX_use_PrivateKey(x_tls, wanted.tls->key.get()) == 1, "key");
        if (wanted.newest_tls != 0 && wanted.newest_tls < TLS1_2_VERSION) {
            SSL_CTX_set_cipher_list(x_tls, "ALL:@SECLEVEL=0");  // OpenSSL itself distrusts them
        }
        SSL_CTX_set_min_proto_version(x_tls, wanted.newest_tls);
        SSL_CTX_set_max_proto_version(x_tls, wanted.newest_tls);
    }
    x_acceptor = std::thread([this] { accept_all(); });
}

receiver::~receiver() {
    x_stopped = true;
    x_acceptor.join();
    for (std::thread& server : x_servers) server.join();
    ::close(x_listener);
    SSL_CTX_free(x_tls);
}

std::string receiver::location() const {
    return std::string(x_tls != nullptr ? "https://" : "http://") + x_options.address + ":" +
           std::to_string(x_port) + "/hook";
}

void receiver::accept_all() {
    // Only for these threads, when they write to a closed connection. The program under test must do without.
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (!x_stopped) {
        pollfd one{x_listener, POLLIN, 0};
        if (::poll(&one, 1, look_up_interval_ms) <= 0) continue;
        const int socket = ::accept4(x_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) continue;
        ++x_connections;
        x_servers.emplace_back([this, socket] { serve(socket); });
    }
}

void receiver::serve(int socket) {
    peer one(socket, x_stopped);
    if (x_tls != nullptr && !one.secure(x_tls)) return;
    x_script(one);
}

}  // namespace herald::test
