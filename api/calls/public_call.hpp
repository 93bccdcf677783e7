// Requests that anybody may make, without credentials: answered from the process alone, not from the
// registry.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/http/message.hpp"
#include "runtime/readiness.hpp"

namespace herald::api::calls {

/// What a caller of /readyz means to send: anything, or only what a node answers without the log, which is
/// reads and predictions (`?for=reads`).
enum class ready_for : std::uint8_t { everything, reads };

/// The answer of /readyz: 503 while there is a reason not to be ready.
struct readiness_report {
    std::optional<runtime::trouble> not_ready;
    std::string body;  // a JSON object
};
/// Callable on any thread. Errors: invalid_argument for what this process never answers.
using readiness = std::function<result<readiness_report>(ready_for)>;

/// The service owns everything it refers to.
struct public_call {
    const readiness& ready;
    std::string_view openapi;  // the OpenAPI document
    std::string_view keys;     // the public keys of this installation, as a JSON Web Key Set
    std::string_view query;    // as sent
};

}  // namespace herald::api::calls
