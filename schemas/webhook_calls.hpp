// A delivery under the name that the published interface has for it (wire.md §1 "WebhookCall.Status").
#pragma once

#include "schemas/deliveries.hpp"

namespace herald::schemas {

enum class webhook_call_status : std::uint8_t { unknown, success, failure, in_progress };
template <>
inline constexpr auto enum_names<webhook_call_status> =
    in_order<webhook_call_status>("UNKNOWN", "SUCCESS", "FAILURE", "IN_PROGRESS");

constexpr webhook_call_status call_status_of(delivery_state state) noexcept {
    switch (state) {
        case delivery_state::waiting:
        case delivery_state::held:
            return webhook_call_status::in_progress;
        case delivery_state::delivered:
            return webhook_call_status::success;
        case delivery_state::dead:
        case delivery_state::skipped:
            break;
    }
    return webhook_call_status::failure;
}

}  // namespace herald::schemas
