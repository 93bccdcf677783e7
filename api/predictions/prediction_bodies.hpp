// The bodies of predictions: what comes is inflated and bounded, what goes gets its form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/predictions/prediction_paths.hpp"
#include "api/predictions/routing.hpp"
#include "runtime/error.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/server/byte_budget.hpp"
#include "runtime/http/server/request.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

/// One that is answered by a component. On its request's loop.
struct prediction {
    const runtime::http::server::request& received;
    const prediction_path& path;
    const routed& target;
    std::int64_t begun_us = 0;

    const serving::component_route& component() const noexcept { return *target.component; }
};

/// What a request takes in memory beside its body; nothing where that is not bounded.
class working_room {
  public:
    explicit working_room(const runtime::http::server::request& of) {
        if (of.room) x_share.emplace(*of.room);
    }
    /// Errors: unavailable.
    result<void> resize(std::size_t bytes) {
        if (!x_share || x_share->resize(bytes)) return {};
        return runtime::unavailable("too many large predictions are under way on this node; try again");
    }

  private:
    std::optional<runtime::http::server::byte_budget::share> x_share;
};

/// A body as the model takes it: as it came, or inflated.
struct plain_body {
    std::string inflated;
    std::string_view bytes;
};
/// Errors: invalid_argument (415) for another coding than gzip and deflate; those of inflated;
/// resource_exhausted (413); unavailable when there is no room.
result<void> inflate_body(const prediction&, plain_body&, working_room&);

/// Into an answer that has none yet. Errors: the body's own; failed_precondition for one that is too long.
result<void> write_json(result<std::string> body, runtime::http::http_response& out);

runtime::http::http_response json_response(std::string body);
runtime::http::http_response response_of(serving::engines::body_response);
/// {"error": "<text>"} in the v2 protocol.
runtime::http::http_response refusal_of(const error&, bool is_of_v2_protocol);

}  // namespace herald::api::predictions
