// The memory of a prediction, taken from the server's bound for all requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "runtime/error.hpp"
#include "runtime/http/server/byte_budget.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::api::predictions {

inline error too_many_large() {
    return runtime::resource_exhausted("too many large predictions are under way on this node; try again");
}

/// The memory of one prediction besides its body as it came; nothing if that is not bounded.
class prediction_memory {
  public:
    explicit prediction_memory(const runtime::http::server::request& of) : x_body_bytes(of.body.size()) {
        if (of.room) x_share.emplace(*of.room);
    }
    /// Errors: resource_exhausted; as 413 when there is no room for so much even if nothing else is under
    /// way.
    result<void> resize(std::size_t bytes) {
        if (!x_share || x_share->resize(bytes)) return {};
        if (x_body_bytes <= x_share->bytes_max() && bytes <= x_share->bytes_max() - x_body_bytes)
            return too_many_large();
        return error{
            error_code::resource_exhausted,
            "this prediction may take " + std::to_string(bytes) + " bytes of memory beside its body of " +
                std::to_string(x_body_bytes) + "; all requests of a node together have " +
                std::to_string(x_share->bytes_max()) +
                " (--requests-memory-mb); send fewer elements at a time, or in binary by the v2 protocol",
            413};
    }

  private:
    const std::size_t x_body_bytes;
    std::optional<runtime::http::server::byte_budget::share> x_share;
};

}  // namespace herald::api::predictions
