// What operators ask without credentials: /healthz, /readyz, /metrics.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "api/server/server.hpp"

namespace herald::api {

enum class metrics_here : bool { no, yes };

/// Nothing when the request is for something else.
std::optional<runtime::http_response> answer_operator(const request&, const std::function<bool()>& is_ready,
                                                      metrics_here);

/// Answers nothing but that: for workers, and for metrics on an address of their own. `is_ready` is called on
/// any thread.
std::unique_ptr<request_handler> make_operator_service(std::function<bool()> is_ready);

}  // namespace herald::api
