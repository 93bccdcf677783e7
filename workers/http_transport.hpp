// The real transport: sends a delivery as a request of the HTTP client (delivery.md §3 and §5).
#pragma once

#include <memory>

#include "runtime/http/client/client.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/limits.hpp"
#include "workers/transport.hpp"

namespace herald::workers {

using http_transport_options = runtime::http::client::client_options;
static_assert(limits::client_connections_max >= 2 * limits::attempts_in_flight_max,
              "attempts under way, and as many connections that wait for the next");

/// Threads, blocking and exceptions: as runtime::http::client::make_client(). Connections are shared by
/// all webhooks with the same scheme, host, port and address; a location whose connections are all in use is
/// this worker's own shortage.
std::unique_ptr<transport> make_http_transport(boost::asio::io_context&, http_transport_options);

}  // namespace herald::workers
