// Looks names up without blocking (c-ares on the event loop).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/limits.hpp"

namespace boost::asio {
class io_context;
}

namespace herald::runtime::http::client {

struct resolver_options {
    std::string servers;  // "192.0.2.1:53,…"; empty: the system's, read when the resolver is created
    std::int64_t lookup_ms_max = limits::client_resolve_ms;
};

/// A running lookup; destroying it drops its callback.
class lookup {
  public:
    virtual ~lookup() = default;
};

/// Lives on the thread of its io_context. Outlives its lookups.
class resolver {
  public:
    using callback = std::function<void(result<std::vector<ip_address>>)>;
    virtual ~resolver() = default;
    /// The IPv4 addresses of the name, then the IPv6 ones; from /etc/hosts or DNS, without search domains,
    /// not cached. Calls back once, within lookup_ms_max, never from inside resolve(). If only one family was
    /// answered in time, its addresses are the answer. Errors: not_found when the name has no address;
    /// unavailable when no server answered.
    virtual std::unique_ptr<lookup> resolve(const std::string& name, callback) = 0;
};

/// Throws std::runtime_error when the servers cannot be read.
std::unique_ptr<resolver> make_resolver(boost::asio::io_context&, const resolver_options&);

}  // namespace herald::runtime::http::client
