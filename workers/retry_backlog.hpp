// How many deliveries of a webhook wait in the retry topics because of this worker: the basis of the cap that
// keeps a dead receiver from filling them (design.md §3). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "schemas/ids.hpp"
#include "workers/retry_policy.hpp"

namespace herald::workers {

/// A record counts from its append until it is due, whichever worker then reads it. Times are steady
/// milliseconds. Holds at most 17 counts for each webhook and tier.
class retry_backlog {
  public:
    void add(schemas::webhook_id, std::size_t tier, std::int64_t now_ms);
    std::uint64_t count(schemas::webhook_id, std::int64_t now_ms);
    /// Forgets webhooks that have nothing waiting any more.
    void tick(std::int64_t now_ms);

  private:
    struct waiting {
        std::int64_t until_ms = 0;
        std::uint64_t records = 0;
    };
    struct of_webhook {
        std::array<std::deque<waiting>, retry_tiers.size()> tiers;
        std::uint64_t records = 0;

        void forget_due(std::int64_t now_ms);
    };

    std::map<schemas::webhook_id, of_webhook> x_webhooks;
};

}  // namespace herald::workers
