// What the handlers of webhooks need besides their calls.
#pragma once

#include "runtime/http/client/location.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/deliveries/delivery_sender.hpp"
#include "storage/deliveries/replay_counter.hpp"
#include "storage/deliveries/trigger_calls.hpp"

namespace herald::api::webhooks {

/// As calls::services.
struct services {
    storage::deliveries::trigger_calls& triggers;
    storage::deliveries::delivery_history& history;
    storage::deliveries::delivery_sender& sender;
    storage::deliveries::replay_counter& replays;
    runtime::http::client::plain_http http_locations = runtime::http::client::plain_http::refused;
    runtime::http::client::address_policy addresses{};
};

}  // namespace herald::api::webhooks
