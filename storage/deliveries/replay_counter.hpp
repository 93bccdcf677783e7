// What a replay would send, for a dry run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "schemas/deliveries.hpp"

namespace herald::storage::deliveries {

struct replay_count {
    std::uint64_t count = 0;
    std::int64_t oldest_ms = 0;  // of the events; 0: there is none
    std::int64_t newest_ms = 0;
    std::map<schemas::webhook_id, std::uint64_t> by_webhook;
    bool is_partial = false;  // it took too long
};

class replay_counter {
  public:
    virtual ~replay_counter() = default;
    /// Any thread. `counted` is called once, on any thread, unless the process ends before.
    virtual void count(schemas::replay, std::function<void(replay_count)> counted) = 0;
};

}  // namespace herald::storage::deliveries
