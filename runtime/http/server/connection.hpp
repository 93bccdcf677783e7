// One client's connection: reads, answers and logs its requests one by one.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <set>
#include <string>

#include "runtime/event_loop.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/server/byte_budget.hpp"
#include "runtime/http/server/places.hpp"
#include "runtime/http/server/request_report.hpp"
#include "runtime/http/server/response_writer.hpp"
#include "runtime/http/server/server.hpp"

namespace boost::asio::ssl {
class context;
}

namespace herald::runtime::http::server {

using tcp_socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class connection;

/// What the connections of all loops share.
struct shared_room {
    shared_room(const connection_limits& bounds, request_handler& first)
        : handler(&first),
          places(bounds),
          bodies(bounds.unfinished_bodies_bytes),
          small_bodies(bounds.unfinished_small_bodies_bytes),
          finished_bodies(bounds.finished_bodies_bytes),
          answers(bounds.unsent_answers_bytes) {}

    std::atomic<request_handler*> handler;  // that begins requests
    connection_places places;
    byte_budget bodies;  // incomplete
    byte_budget small_bodies;
    byte_budget finished_bodies;  // not answered yet; and what handlers make of them
    byte_budget answers;          // large ones, to known callers
    byte_budget answers_to_strangers{limits::unsent_answers_to_strangers_max};
};

/// What the connections of one loop share; used only on the loop's thread.
struct connections_of_loop {
    connections_of_loop(runtime::event_loop& its_loop, const server_options& given, shared_room& of_all)
        : loop(its_loop), options(given), room(of_all), writer(given.header_prefixes) {}

    runtime::event_loop& loop;
    const server_options& options;
    shared_room& room;
    response_writer writer;
    request_metrics metrics;
    bool is_draining = false;             // every answer closes its connection
    std::array<char, 16 * 1024> scrap{};  // for bytes that nobody looks at, of all connections that linger
    std::set<connection*> open;
};

/// Lives as long as run(), on its loop's thread.
class connection {
  public:
    explicit connection(connections_of_loop& all) : x_all(all) { all.open.insert(this); }
    virtual ~connection() { x_all.open.erase(this); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Serves until the client leaves, a deadline passes, the input cannot be trusted, or the server drains.
    virtual boost::asio::awaitable<void> run() = 0;
    /// Draining has begun: ends at once if no request has started to arrive.
    virtual void wind_down() = 0;

  protected:
    connections_of_loop& x_all;
};

/// As in request.
struct addresses_of_connection {
    std::string remote;
    std::string local;
};
using place_of_connection = std::unique_ptr<connection_places::place>;
/// `tls`: null without.
std::unique_ptr<connection> make_connection(connections_of_loop&, tcp_socket, addresses_of_connection,
                                            place_of_connection, boost::asio::ssl::context* tls);

}  // namespace herald::runtime::http::server
