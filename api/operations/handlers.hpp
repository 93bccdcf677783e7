// Handlers for what operators and clients ask about the installation.
#pragma once

#include "api/calls/handler.hpp"
#include "api/calls/public_call.hpp"

namespace herald::api::operations {

// operator_endpoints.cpp
runtime::http::http_response get_health(const calls::public_call&);
runtime::http::http_response get_readiness(const calls::public_call&);
runtime::http::http_response get_metrics(const calls::public_call&);
runtime::http::http_response get_openapi(const calls::public_call&);

// feature_flags.cpp
calls::answered list_feature_flags(calls::reading_call&);
calls::response set_feature_flag(calls::writing_call&);

}  // namespace herald::api::operations
