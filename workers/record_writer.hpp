// A worker's appends: to the retry topics and `dead` until they are acknowledged, to `attempts` on best
// effort.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "events/log/log.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/webhooks.hpp"
#include "workers/worker_counters.hpp"

namespace herald::workers {

/// The number of partitions of each topic that a worker writes to.
using partition_counts = std::map<std::string, std::int32_t, std::less<>>;

/// Lives on the scheduler's thread. All records of a webhook go to one partition of a topic. Bounds: what
/// must be acknowledged is bounded by the consumers' windows; records of attempts by
/// limits::attempt_records_waiting_max.
class record_writer {
  public:
    record_writer(events::log::partitioned_log&, runtime::scheduler&, partition_counts, worker_counters&);

    /// Appends and repeats until the record is acknowledged, or refused because it is too large; then calls
    /// `ended` on the scheduler's thread. Before each repeat it calls `wanted`; if that returns false, it
    /// gives up without calling `ended`. A record may be stored more than once.
    void write(std::string_view topic, schemas::webhook_id, std::string value, std::function<bool()> wanted,
               std::function<void(const result<void>&)> ended);
    /// Appends to `attempts`; after a few failures the record is dropped and counted. Does not block.
    void write_attempt(const schemas::attempt&);
    /// True when nothing is being appended.
    bool idle() const noexcept { return x_unacknowledged == 0 && x_attempts_waiting == 0; }

  private:
    struct pending;
    class outcomes;
    std::shared_ptr<pending> make_pending(std::string_view topic, schemas::webhook_id,
                                          std::string value) const;
    void append(std::shared_ptr<pending>);
    void take_outcomes();
    void answered(std::shared_ptr<pending>, const result<std::int64_t>&);
    void repeat(std::shared_ptr<pending>);

    runtime::scheduler& x_scheduler;
    partition_counts x_partitions;
    worker_counters& x_counters;
    std::size_t x_unacknowledged = 0;
    std::size_t x_attempts_waiting = 0;
    std::shared_ptr<outcomes> x_outcomes;
    runtime::lifetime x_lifetime;
    std::unique_ptr<events::log::producer> x_producer;  // last: its destructor still calls handlers
};

}  // namespace herald::workers
