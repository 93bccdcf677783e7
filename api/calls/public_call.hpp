// Requests that anybody may make, without credentials: answered from the process alone, not from the
// registry.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/http/message.hpp"
#include "runtime/readiness.hpp"

namespace herald::api::calls {

/// The answer of /readyz: 503 while there is a reason not to be ready.
struct readiness_report {
    std::optional<runtime::trouble> not_ready;
    std::string body;  // a JSON object
};
/// Callable on any thread.
using readiness = std::function<readiness_report()>;

/// The service owns everything it refers to.
struct public_call {
    const readiness& ready;
    std::string_view openapi;  // the OpenAPI document
};

}  // namespace herald::api::calls
