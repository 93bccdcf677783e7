// TLS towards receivers: trust, error messages, and sessions to resume.
#pragma once

#include <openssl/types.h>

#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "runtime/http/client/location.hpp"

namespace herald::runtime::http::client {

struct client_options;

/// TLS 1.2 or newer; certificates are verified against the system's store and, if given, the PEM file. Throws
/// boost::system::system_error when a file cannot be read.
boost::asio::ssl::context make_client_tls(const client_options&);

/// To be called before the handshake. Sets the name to ask for, and the name or address that the certificate
/// must have.
void expect_receiver(SSL*, const location&);

/// Why a handshake failed: what is wrong with the certificate, otherwise `otherwise`.
std::string why_handshake_failed(const SSL*, std::string otherwise);

struct free_session {
    void operator()(SSL_SESSION*) const noexcept;
};
using tls_session = std::unique_ptr<SSL_SESSION, free_session>;

/// The newest session of each receiver, to shorten the next handshake. One thread.
class tls_sessions {
  public:
    explicit tls_sessions(std::size_t count_max) : x_count_max(count_max) {}
    /// To be called after an answer, when TLS 1.3's tickets have arrived.
    void keep(const std::string& receiver, SSL*);
    /// Removes and returns the session: a TLS 1.3 ticket is for one use (RFC 8446 §C.4). Null when there is
    /// none.
    tls_session take(const std::string& receiver);

  private:
    std::size_t x_count_max;
    std::map<std::string, tls_session> x_sessions;
};

}  // namespace herald::runtime::http::client
