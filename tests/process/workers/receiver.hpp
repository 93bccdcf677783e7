// A webhook's receiver as a real TCP or TLS server on loopback that does what a test tells it, however rude.
#pragma once

#include <openssl/types.h>

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "tests/process/workers/certificates.hpp"

namespace herald::test {

/// A whole answer.
inline const std::string hi = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// The receiver's end of one connection, used only on its script's thread.
class peer {
  public:
    peer(int socket, const std::atomic<bool>& stopped) : x_socket(socket), x_stopped(stopped) {}
    ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    /// False when the handshake fails.
    bool secure(SSL_CTX*);
    /// Header and body (by content-length) of the next request; empty when there is none.
    std::string read_request();
    /// At most `bytes`; empty at the end or when the test is over.
    std::string read_some(std::size_t bytes);
    /// False when the other side is gone or the test is over.
    bool send(std::string_view text);
    /// Sends one byte, pauses, sends the next byte.
    bool drip(std::string_view text, int rest_ms);
    /// Waits until the other side closes or the test is over.
    void hang();
    /// Likewise, without reading anything.
    void ignore();
    /// From now on the kernel drops what comes, while more than a few KiB are unread.
    void take_no_more();
    /// Closes only our direction.
    void half_close();
    /// Closes with a TCP reset.
    void reset();
    bool is_resumed() const;
    /// The name that the other side asked for (SNI).
    std::string server_name() const;

  private:
    bool wait(short events, int timeout_ms) const;

    int x_socket;
    const std::atomic<bool>& x_stopped;
    SSL* x_ssl = nullptr;
};

/// Runs `script` on a separate thread for each connection. All threads have ended when it is destroyed.
class receiver {
  public:
    using script = std::function<void(peer&)>;
    struct options {
        const char* address = "127.0.0.1";
        /// If set: speaks TLS before the script starts; connections whose handshake fails never reach the
        /// script.
        const identity* tls = nullptr;
        int newest_tls = 0;  // 0x0303 for TLS 1.2, …; 0: whatever OpenSSL supports
        /// SO_RCVBUF: the kernel takes about so much that nobody has read. 0: whatever it likes.
        int receive_buffer_bytes = 0;
    };

    explicit receiver(script to_play) : receiver(std::move(to_play), options()) {}
    receiver(script to_play, options);
    ~receiver();
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;

    std::uint16_t port() const { return x_port; }
    /// "http://127.0.0.1:<port>/hook", or https with TLS.
    std::string location() const;
    int connections() const { return x_connections; }

  private:
    void accept_all();
    void serve(int socket);

    script x_script;
    options x_options;
    int x_listener = -1;
    std::uint16_t x_port = 0;
    std::atomic<int> x_connections{0};
    std::atomic<bool> x_stopped{false};
    SSL_CTX* x_tls = nullptr;
    std::thread x_acceptor;
    std::list<std::thread> x_servers;
};

}  // namespace herald::test
