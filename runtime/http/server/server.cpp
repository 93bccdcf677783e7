#include "runtime/http/server/server.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/http/limits.hpp"
#include "runtime/http/server/awaiting.hpp"
#include "runtime/http/server/connection.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/task_group.hpp"

namespace herald::runtime::http::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
using boost::system::error_code;
using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
/// Without it the kernel holds megabytes, and takes no more before a third of them has gone: a slow reader
/// would look like one that has stopped.
using unsent_bytes = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

constexpr std::int64_t accept_pause_ms = 100;
constexpr std::int64_t crowded_pause_ms = 1;

// An IPv6 client owns a /64, so all of it counts as one address.
std::string counted_address(const asio::ip::address& from) {
    if (from.is_v4()) return from.to_string();
    auto bytes = from.to_v6().to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return asio::ip::address_v6(bytes).to_string();
}

asio::ip::address unmapped(const asio::ip::address& from) {
    if (from.is_v6() && from.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, from.to_v6());
    return from;
}

// As in a URL.
std::string text_of(const tcp::endpoint& to) {
    const asio::ip::address address = unmapped(to.address());
    const std::string text = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    return text + ":" + std::to_string(to.port());
}

// The server's part on one loop: its own listening socket and the connections it accepted.
class listener {
  public:
    listener(runtime::event_loop& loop, const server_options& options, shared_room& room,
             asio::ssl::context* tls, tcp_acceptor acceptor)
        : x_connections(loop, options, room), x_tls(tls), x_acceptor(std::move(acceptor)), x_tasks(loop) {}

    void start() { x_tasks.start("accept connections", accept()); }
    void drain() {
        asio::dispatch(x_connections.loop.context(), [this] { stop_accepting(); });
    }
    runtime::task_group& tasks() noexcept { return x_tasks; }

  private:
    asio::awaitable<void> accept();
    asio::awaitable<void> pause(std::int64_t ms);
    asio::awaitable<void> serve(tcp_socket client, addresses_of_connection addresses,
                                place_of_connection place);
    void admit(tcp_socket client);
    void turn_away(tcp_socket& client);
    void stop_accepting();

    connections_of_loop x_connections;
    asio::ssl::context* const x_tls;  // null: no TLS
    tcp_acceptor x_acceptor;
    runtime::task_group x_tasks;
};

asio::awaitable<void> listener::accept() {
    bool is_paused = false;
    while (x_acceptor.is_open()) {
        if (x_connections.room.places.is_crowded()) {  // new clients wait in the kernel's queue
            co_await pause(crowded_pause_ms);
            continue;
        }
        auto [failed, client] = co_await x_acceptor.async_accept(outcome);
        if (!failed) {
            is_paused = false;
            admit(std::move(client));
        } else if (failed == asio::error::no_descriptors || failed == asio::error::no_memory ||
                   failed == asio::error::no_buffer_space || failed.value() == ENFILE) {
            // The connection stays in the kernel's queue: without a pause this loop would spin.
            if (!is_paused)
                runtime::log(runtime::log_level::warning, runtime::log_events::accept_paused,
                             {{"reason", failed.message()}, {"wait_ms", accept_pause_ms}});
            is_paused = true;
            co_await pause(accept_pause_ms);
        }
    }
}

asio::awaitable<void> listener::pause(std::int64_t ms) {
    asio::steady_timer timer(x_connections.loop.context(), std::chrono::milliseconds(ms));
    co_await timer.async_wait(outcome);
}

void listener::admit(tcp_socket client) {
    error_code failed;
    const tcp::endpoint from = client.remote_endpoint(failed);
    const tcp::endpoint to = client.local_endpoint(failed);
    if (failed) return;  // already gone
    client.set_option(tcp::no_delay(true), failed);
    client.set_option(unsent_bytes(limits::http_unsent_bytes_max), failed);
    client.non_blocking(true, failed);
    const asio::ip::address address = unmapped(from.address());
    auto place = x_connections.room.places.take(counted_address(address), client.native_handle());
    if (!place) return turn_away(client);
    addresses_of_connection addresses{address.to_string(), text_of(to)};
    x_tasks.start("serve a connection", serve(std::move(client), std::move(addresses), std::move(place)));
}

asio::awaitable<void> listener::serve(tcp_socket client, addresses_of_connection addresses,
                                      place_of_connection place) {
    const std::unique_ptr<connection> served =
        make_connection(x_connections, std::move(client), std::move(addresses), std::move(place), x_tls);
    co_await served->run();
}

// One attempt to say why; waiting for the client would defeat the bound.
void listener::turn_away(tcp_socket& client) {
    if (x_tls) return;
    const http_response answer =
        error_response(runtime::unavailable("too many connections; close some or try again later"));
    std::string bytes;
    x_connections.writer.write_head(bytes, answer, {"-", {}, false, true});
    bytes += answer.body;
    error_code ignored;
    client.write_some(asio::buffer(bytes), ignored);
    client.shutdown(tcp_socket::shutdown_send, ignored);
}

void listener::stop_accepting() {
    if (!x_acceptor.is_open()) return;
    x_connections.is_draining = true;
    error_code failed;
    x_acceptor.non_blocking(true, failed);
    while (!failed) {  // clients that the kernel has already accepted
        tcp_socket client(x_connections.loop.context());
        x_acceptor.accept(client, failed);
        if (!failed) admit(std::move(client));
    }
    x_acceptor.close(failed);
    for (connection* each : x_connections.open) each->wind_down();
}

class herald_server final : public server {
  public:
    herald_server(server_options options, request_handler& handler, runtime::event_loops& loops,
                  std::optional<asio::ssl::context> tls, std::vector<tcp_acceptor> acceptors)
        : x_options(std::move(options)), x_tls(std::move(tls)), x_room(x_options.bounds, handler) {
        x_port = acceptors.front().local_endpoint().port();
        for (std::size_t i = 0; i < loops.size(); ++i)
            x_listeners.push_back(std::make_unique<listener>(
                loops[i], x_options, x_room, x_tls ? &*x_tls : nullptr, std::move(acceptors[i])));
    }
    ~herald_server() override { stop(); }

    std::uint16_t port() const noexcept override { return x_port; }

    void start() override {
        for (const auto& each : x_listeners) each->start();
    }

    void lead_to(request_handler& next) override { x_room.handler = &next; }

    bool drain(std::int64_t ms) override {
        const runtime::clock& time = x_listeners.front()->tasks().loop().time();
        const std::int64_t until_ms = time.steady_ms() + ms;
        for (const auto& each : x_listeners) each->drain();
        bool is_empty = true;
        for (const auto& each : x_listeners)
            is_empty &= each->tasks().join(std::max<std::int64_t>(0, until_ms - time.steady_ms()));
        return is_empty;
    }

    void stop() override {
        for (const auto& each : x_listeners) each->tasks().cancel();
        for (const auto& each : x_listeners) each->tasks().stop();
    }

  private:
    const server_options x_options;
    std::optional<asio::ssl::context> x_tls;
    shared_room x_room;
    std::uint16_t x_port = 0;
    std::vector<std::unique_ptr<listener>> x_listeners;
};

// One listening socket per loop, all on one port: the kernel distributes the connections.
result<std::vector<tcp_acceptor>> listen(const server_options& options, runtime::event_loops& loops) {
    error_code failed;
    const asio::ip::address address = asio::ip::make_address(options.address, failed);
    if (failed)
        return runtime::invalid_argument({options.address, " is not an IPv4 or IPv6 address to listen on"});
    tcp::endpoint where(address, options.port);
    std::vector<tcp_acceptor> out;
    for (std::size_t i = 0; i < loops.size() && !failed; ++i) {
        tcp_acceptor& next = out.emplace_back(loops[i].context());
        next.open(where.protocol(), failed);
        if (!failed) next.set_option(tcp_acceptor::reuse_address(true), failed);
        // The first one binds alone, so that a port used by another program is refused; it shares the port
        // afterwards.
        if (!failed && i > 0) next.set_option(reuse_port(true), failed);
        if (!failed) next.bind(where, failed);
        if (!failed && i == 0 && loops.size() > 1) next.set_option(reuse_port(true), failed);
        if (!failed) next.listen(tcp_acceptor::max_listen_connections, failed);
        if (!failed) where = next.local_endpoint(failed);
    }
    if (failed)
        return runtime::unavailable(
            {"cannot listen on ", options.address, " port ", options.port, ": ", failed.message()});
    return out;
}

result<std::optional<asio::ssl::context>> load_tls(const server_options& options) {
    std::optional<asio::ssl::context> out;
    if (options.tls_certificate_file.empty() && options.tls_key_file.empty()) return out;
    error_code failed;
    out.emplace(asio::ssl::context::tls_server);
    out->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_compression,
                     failed);
    if (!failed) out->use_certificate_chain_file(options.tls_certificate_file, failed);
    if (failed)
        return runtime::invalid_argument({"the TLS certificate file '", options.tls_certificate_file,
                                          "' cannot be used: ", failed.message()});
    out->use_private_key_file(options.tls_key_file, asio::ssl::context::pem, failed);
    if (failed)
        return runtime::invalid_argument(
            {"the TLS key file '", options.tls_key_file, "' cannot be used: ", failed.message()});
    return out;
}

}  // namespace

request_handler& request_handler::begin(const request&, plan&) noexcept { return *this; }

bool request_handler::handle_now(const request&, const plan&, http_response&) { return false; }

boost::asio::awaitable<http_response> request_handler::handle(const request&, const plan&) {
    co_return error_response(runtime::internal("a handler that answers at once has not"));
}

http_response request_handler::refusal(const request&, const plan&, const error& why) const {
    return error_response(why);
}

boost::asio::awaitable<std::optional<http_response>> request_handler::judge(const request&, const plan&) {
    co_return std::nullopt;
}

result<std::unique_ptr<server>> make_server(server_options options, request_handler& handler,
                                            runtime::event_loops& loops) {
    auto tls = load_tls(options);
    if (!tls) return tls.error();
    auto acceptors = listen(options, loops);
    if (!acceptors) return acceptors.error();
    return std::make_unique<herald_server>(std::move(options), handler, loops, std::move(*tls),
                                           std::move(*acceptors));
}

}  // namespace herald::runtime::http::server
