// Finds the route for a method and a path.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/calls/limits.hpp"
#include "api/calls/route.hpp"
#include "runtime/error.hpp"
#include "runtime/http/message.hpp"

namespace herald::api::calls {

/// The route for a path. Refers to the router, but not to the path, which may move in memory meanwhile.
class route_match {
  public:
    /// Never null.
    const route* target = nullptr;
    /// The names of the route's parameters, in order.
    std::span<const std::string_view> names() const noexcept { return x_names; }
    /// The segment in the matched path, percent-decoded, valid UTF-8; empty when the route has no parameter
    /// of this name.
    std::string_view parameter(std::string_view name, std::string_view path) const noexcept;

  private:
    friend class router;
    struct place {
        std::uint32_t begin = 0, bytes = 0;
        bool is_decoded = false;  // then it is in x_decoded, else in the path
    };

    std::span<const std::string_view> x_names;
    std::array<place, limits::path_parameters_max> x_values;  // as x_names
    std::unique_ptr<char[]> x_decoded;                        // only if a segment was percent-encoded
};

/// Why no route answers.
struct route_refusal {
    runtime::error why;
    std::string allow;  // 405: the value of the Allow header
};

using route_result = boost::system::result<route_match, route_refusal>;

/// Immutable once made; any thread may match. Matching a path without percent-encoding allocates nothing.
class router {
  public:
    /// `routes` must outlive it. Throws std::invalid_argument for a malformed or repeated pattern.
    explicit router(std::span<const route> routes);
    ~router();
    router(router&&) noexcept;

    std::span<const route> routes() const noexcept { return x_routes; }

    /// Literal segments win over parameters. HEAD is answered by the route for GET. Errors (in `why`):
    /// not_found for an unknown path; unimplemented with status 405 for a known path with other methods;
    /// invalid_argument for a parameter that is not percent-encoded UTF-8.
    route_result match(runtime::http::http_method, std::string_view path) const;

  private:
    struct node;
    struct search;
    void add(const route&);
    void find(const node&, std::string_view rest, search&) const;

    std::span<const route> x_routes;
    std::unique_ptr<node> x_root;
};

/// The answer for the refusal, with its Allow header.
runtime::http::http_response refusal_response(const route_refusal&);

}  // namespace herald::api::calls
