// The transport that really sends: c-ares, TCP, TLS, HTTP/1.1 (delivery.md §3 and §5, http.md §3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/client/location.hpp"
#include "runtime/http/client/resolver.hpp"
#include "workers/transport.hpp"

namespace boost::asio {
class io_context;
}

namespace herald::workers {

struct http_transport_options {
    runtime::http::client::plain_http http = runtime::http::client::plain_http::refused;
    runtime::http::client::address_policy policy;
    std::string extra_ca_file;  // PEM, trusted beside the system's store; empty: none
    runtime::http::client::resolver_options dns;
    std::size_t connections_max = 2 * limits::attempts_in_flight_max;  // under way and idle
    std::size_t idle_connections_max = 256;
    std::int64_t idle_ms_max = 30'000;
};

/// Works on the thread that runs the io_context, and must be destroyed on it or when it has stopped. Never
/// blocks. Throws std::runtime_error when the CA file or the DNS servers cannot be read.
///
/// A name is resolved for each attempt; all its addresses must be allowed, and one of them is connected to. A
/// connection is used again only by the same webhook, after a complete answer that framed itself; a request
/// that met a connection closed before any byte of the answer is sent once more on a new one.
std::unique_ptr<transport> make_http_transport(boost::asio::io_context&, http_transport_options);

}  // namespace herald::workers
