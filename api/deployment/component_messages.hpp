// Messages about a stage's component that is not loaded.
#pragma once

#include <string>

#include "api/calls/call.hpp"
#include "schemas/endpoints.hpp"

namespace herald::api::deployment {

/// Why it is in error or not loaded yet, as far as this node knows: other nodes append nothing about their
/// tries until they give up. Empty when there is nothing to say.
std::string message_of(const calls::reading_call&, const schemas::stage_component&);

}  // namespace herald::api::deployment
