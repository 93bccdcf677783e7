// What triggerTest sends.
#pragma once

#include <cstdint>
#include <string>

#include "schemas/webhooks.hpp"

namespace herald::api::webhooks {

/// A delivery outside any event: nothing about it is in the command log. Its body shows an example of the
/// webhook's first event type (wire.md "Events").
schemas::delivery test_of(const schemas::webhook&, const std::string& test_id, std::int64_t now_ms);

}  // namespace herald::api::webhooks
