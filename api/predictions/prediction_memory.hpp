// The memory of a prediction, taken from the server's bound for all requests.
#pragma once

#include <cstddef>
#include <optional>

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
    explicit prediction_memory(const runtime::http::server::request& of) {
        if (of.room) x_share.emplace(*of.room);
    }
    /// Errors: resource_exhausted.
    result<void> resize(std::size_t bytes) {
        if (!x_share || x_share->resize(bytes)) return {};
        return too_many_large();
    }

  private:
    std::optional<runtime::http::server::byte_budget::share> x_share;
};

}  // namespace herald::api::predictions
