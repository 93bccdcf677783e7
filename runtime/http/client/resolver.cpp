// c-ares says which of its sockets to watch and when to wake it; this file makes Asio do both.
#include "runtime/http/client/resolver.hpp"

#include <ares.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

namespace herald::runtime::http::client {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr int one_try_ms = 600;  // the second try waits twice as long: both fit into 2 s
constexpr int tries = 2;

void expect_success(int status, const char* what) {
    if (status != ARES_SUCCESS) throw std::runtime_error(std::string(what) + ": " + ares_strerror(status));
}

/// One name: two questions (A and AAAA), one answer. Shared by its handle, its timer and c-ares' callbacks.
class name_lookup : public std::enable_shared_from_this<name_lookup> {
  public:
    name_lookup(asio::io_context& io, std::string name, resolver::callback callback)
        : x_io(io), x_timer(io), x_name(std::move(name)), x_callback(std::move(callback)) {}

    void give_up_after(std::int64_t ms) {
        x_ms_max = ms;
        x_timer.expires_after(milliseconds(ms));
        x_timer.async_wait([self = shared_from_this()](error_code ec) {
            if (!ec) self->finish();
        });
    }

    void cancel() {
        x_callback = nullptr;
        x_timer.cancel();
    }

    void take(int family, int status, const ares_addrinfo* found) {
        auto& answer = family == AF_INET ? x_v4 : x_v6;
        answer.status = status;
        for (const auto* node = found ? found->nodes : nullptr; node != nullptr; node = node->ai_next) {
            if (const auto address = address_of(node->ai_addr)) answer.addresses.push_back(*address);
        }
        // Not from inside c-ares, since the callback may use its channel.
        const bool both = x_v4.status && x_v6.status;
        if (both) asio::post(x_io, [self = shared_from_this()] { self->finish(); });
    }

  private:
    struct family_answer {
        std::optional<int> status;  // empty: not answered yet
        std::vector<ip_address> addresses;
    };

    static std::optional<ip_address> address_of(const sockaddr* address) {
        if (address->sa_family == AF_INET) {
            sockaddr_in v4{};
            std::memcpy(&v4, address, sizeof v4);
            std::array<std::uint8_t, 4> bytes{};
            std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
            return ip_address::v4(bytes);
        }
        if (address->sa_family == AF_INET6) {
            sockaddr_in6 v6{};
            std::memcpy(&v6, address, sizeof v6);
            std::array<std::uint8_t, 16> bytes{};
            std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
            return ip_address::v6(bytes);
        }
        return std::nullopt;
    }

    void finish() {
        if (!x_callback) return;
        x_timer.cancel();
        const auto callback = std::exchange(x_callback, nullptr);
        std::vector<ip_address> all = x_v4.addresses;
        all.insert(all.end(), x_v6.addresses.begin(), x_v6.addresses.end());
        if (!all.empty()) return callback(std::move(all));
        callback(why_nothing());
    }

    error why_nothing() const {
        if (!x_v4.status || !x_v6.status) {
            return runtime::unavailable({"no answer from DNS for ", x_name, " within ", x_ms_max, " ms"});
        }
        const bool v4_is_clear = *x_v4.status == ARES_ENODATA || *x_v4.status == ARES_SUCCESS;
        const int status = v4_is_clear ? *x_v6.status : *x_v4.status;
        if (status == ARES_ENOTFOUND) return runtime::not_found({"the name ", x_name, " does not exist"});
        if (status == ARES_ENODATA || status == ARES_SUCCESS) {
            return runtime::not_found({"the name ", x_name, " has no address"});
        }
        return runtime::unavailable({"looking up ", x_name, ": ", ares_strerror(status)});
    }

    asio::io_context& x_io;
    asio::steady_timer x_timer;
    std::string x_name;
    resolver::callback x_callback;
    std::int64_t x_ms_max = 0;
    family_answer x_v4;
    family_answer x_v6;
};

class lookup_handle final : public lookup {
  public:
    explicit lookup_handle(std::shared_ptr<name_lookup> asked) : x_lookup(std::move(asked)) {}
    ~lookup_handle() override { x_lookup->cancel(); }
    lookup_handle(const lookup_handle&) = delete;
    lookup_handle& operator=(const lookup_handle&) = delete;

  private:
    std::shared_ptr<name_lookup> x_lookup;
};

/// What c-ares returns with an answer; owned by c-ares until then.
struct question {
    std::shared_ptr<name_lookup> lookup;
    int family;
};

/// A c-ares channel, its sockets and its timer. Shared with the handlers that wait for them.
class channel : public std::enable_shared_from_this<channel> {
  public:
    channel(asio::io_context& io, const resolver_options& options) : x_io(io), x_timer(io) {
        expect_success(ares_library_init(ARES_LIB_INIT_ALL), "c-ares");
        ares_options settings{};
        settings.flags = ARES_FLAG_NOSEARCH;  // a location's name is always the full name
        settings.timeout = one_try_ms;
        settings.tries = tries;
        settings.sock_state_cb = [](void* self, int socket, int readable, int writable) {
            static_cast<channel*>(self)->watch(socket, readable != 0, writable != 0);
        };
        settings.sock_state_cb_data = this;
        const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
        expect_success(ares_init_options(&x_ares, &settings, mask), "reading the DNS configuration");
        if (options.servers.empty()) return;
        const int status = ares_set_servers_ports_csv(x_ares, options.servers.c_str());
        if (status != ARES_SUCCESS) close();
        expect_success(status, "DNS servers");
    }
    ~channel() { close(); }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    void ask(const std::shared_ptr<name_lookup>& lookup, const std::string& name) {
        for (const int family : {AF_INET, AF_INET6}) {
            ares_addrinfo_hints hints{};
            hints.ai_family = family;
            hints.ai_flags = ARES_AI_NOSORT;
            auto asked = std::make_unique<question>(question{lookup, family});
            ares_getaddrinfo(x_ares, name.c_str(), nullptr, &hints, &channel::answered, asked.release());
        }
        wake_in_time();
    }

    void close() {
        if (x_ares == nullptr) return;
        x_timer.cancel();
        ares_destroy(std::exchange(x_ares, nullptr));  // answers what is open, stops watching its sockets
        ares_library_cleanup();
    }

  private:
    struct watched {
        explicit watched(asio::io_context& io, int socket) : descriptor(io, socket) {}
        asio::posix::stream_descriptor descriptor;
        bool wants_read = false;
        bool wants_write = false;
        bool waits_to_read = false;
        bool waits_to_write = false;
    };

    static void answered(void* argument, int status, int, ares_addrinfo* found) {
        const std::unique_ptr<question> asked(static_cast<question*>(argument));
        asked->lookup->take(asked->family, status, found);
        if (found != nullptr) ares_freeaddrinfo(found);
    }

    /// If neither: c-ares is about to close the socket.
    void watch(int socket, bool readable, bool writable) {
        if (!readable && !writable) {
            const auto found = x_watched.find(socket);
            if (found == x_watched.end()) return;
            found->second->descriptor.release();  // c-ares owns the socket; waits end with an error
            x_watched.erase(found);
            return;
        }
        auto& one = x_watched[socket];
        if (!one) one = std::make_shared<watched>(x_io, socket);
        one->wants_read = readable;
        one->wants_write = writable;
        wait(socket, one);
    }

    void wait(int socket, const std::shared_ptr<watched>& one) {
        using descriptor = asio::posix::stream_descriptor;
        if (one->wants_read && !std::exchange(one->waits_to_read, one->wants_read)) {
            one->descriptor.async_wait(descriptor::wait_read,
                                       [self = shared_from_this(), socket, one](error_code ec) {
                                           one->waits_to_read = false;
                                           self->ready(socket, one, ec, socket, ARES_SOCKET_BAD);
                                       });
        }
        if (one->wants_write && !std::exchange(one->waits_to_write, one->wants_write)) {
            one->descriptor.async_wait(descriptor::wait_write,
                                       [self = shared_from_this(), socket, one](error_code ec) {
                                           one->waits_to_write = false;
                                           self->ready(socket, one, ec, ARES_SOCKET_BAD, socket);
                                       });
        }
    }

    void ready(int socket, const std::shared_ptr<watched>& one, error_code ec, int readable, int writable) {
        const auto is_watched = [&] {
            const auto found = x_watched.find(socket);
            return found != x_watched.end() && found->second == one;  // not another socket of the same number
        };
        if (ec || x_ares == nullptr || !is_watched()) return;
        ares_process_fd(x_ares, readable, writable);
        if (is_watched()) wait(socket, one);
        wake_in_time();
    }

    void wake_in_time() {
        timeval left{};
        if (ares_timeout(x_ares, nullptr, &left) == nullptr) return;  // no open question
        x_timer.expires_after(std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec));
        x_timer.async_wait([self = shared_from_this()](error_code ec) {
            if (ec || self->x_ares == nullptr) return;
            ares_process_fd(self->x_ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
            self->wake_in_time();
        });
    }

    asio::io_context& x_io;
    asio::steady_timer x_timer;
    ares_channel x_ares = nullptr;
    std::map<int, std::shared_ptr<watched>> x_watched;
};

class ares_resolver final : public resolver {
  public:
    ares_resolver(asio::io_context& io, const resolver_options& options)
        : x_io(io),
          x_lookup_ms_max(options.lookup_ms_max),
          x_channel(std::make_shared<channel>(io, options)) {}
    ~ares_resolver() override { x_channel->close(); }
    ares_resolver(const ares_resolver&) = delete;
    ares_resolver& operator=(const ares_resolver&) = delete;

    std::unique_ptr<lookup> resolve(const std::string& name, callback call_back) override {
        auto asked = std::make_shared<name_lookup>(x_io, name, std::move(call_back));
        asked->give_up_after(x_lookup_ms_max);
        x_channel->ask(asked, name);
        return std::make_unique<lookup_handle>(std::move(asked));
    }

  private:
    asio::io_context& x_io;
    std::int64_t x_lookup_ms_max;
    std::shared_ptr<channel> x_channel;
};

}  // namespace

std::unique_ptr<resolver> make_resolver(asio::io_context& io, const resolver_options& options) {
    return std::make_unique<ares_resolver>(io, options);
}

}  // namespace herald::runtime::http::client
