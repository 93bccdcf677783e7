// Three webhooks, and what their lanes do, in short.
#pragma once

#include <cstdint>

#include "workers/lanes.hpp"

namespace herald::test {

inline constexpr schemas::webhook_id a{1};
inline constexpr schemas::webhook_id b{2};
inline constexpr schemas::webhook_id c{3};
inline constexpr auto live = workers::lane_share::live;
inline constexpr auto replay = workers::lane_share::replay;
inline constexpr auto test = workers::lane_share::test;
inline constexpr std::int64_t t0 = 1'000'000;

using actions = workers::lane_actions;

inline workers::lane_action start(workers::delivery_key delivery) {
    return {workers::lane_action::kind::start, delivery, {}, 0};
}
inline workers::lane_action spill(workers::delivery_key delivery, workers::spill_reason reason,
                                  std::int64_t wait_ms = 0) {
    return {workers::lane_action::kind::spill, delivery, reason, wait_ms};
}

}  // namespace herald::test
