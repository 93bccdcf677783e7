// What operators ask without credentials: /healthz, /readyz, /metrics.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/server/server.hpp"

namespace herald::api {

enum class metrics_here : bool { no, yes };

/// What /readyz says, a JSON object; nothing while the process does not serve. Called on any thread.
using readiness = std::function<std::optional<std::string>()>;

/// Nothing when the request is for something else.
std::optional<runtime::http_response> answer_operator(const request&, const readiness&, metrics_here);

/// Answers nothing but that: for workers, and for metrics on an address of their own.
std::unique_ptr<request_handler> make_operator_service(readiness);

}  // namespace herald::api
