// Has a snapshot of the state taken once a day, on the one node that holds the claim "snapshot".
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/scheduler.hpp"
#include "storage/node/node.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "storage/snapshots/snapshot_store.hpp"
#include "storage/snapshots/snapshot_taker.hpp"

namespace herald::storage::snapshots {

/// A snapshot is due when limits::snapshot_records_min were applied since the newest, and that is
/// limits::snapshot_interval_ms of log time old or there is none. None is taken while the disk is low, nor
/// for limits::snapshot_rest_ms after one that failed. Lives on the scheduler's thread; what it is built on
/// must outlive it.
class snapshot_job final : public node::claimed_job, public std::enable_shared_from_this<snapshot_job> {
  public:
    struct parts {
        const rocks::rocks_state& state;
        snapshot_store& store;
        snapshot_taker& taker;
        runtime::scheduler& scheduler;
    };
    snapshot_job(const parts& from, std::function<bool()> is_disk_low)
        : x_state(from.state),
          x_store(from.store),
          x_taker(from.taker),
          x_scheduler(from.scheduler),
          x_is_disk_low(std::move(is_disk_low)) {}

    void start(std::uint64_t token) override;
    void stop() override { x_token = 0; }

  private:
    void look(std::uint64_t token);
    bool is_resting();
    bool is_due();

    const rocks::rocks_state& x_state;
    snapshot_store& x_store;
    snapshot_taker& x_taker;
    runtime::scheduler& x_scheduler;
    const std::function<bool()> x_is_disk_low;
    std::uint64_t x_token = 0;  // of the claim; 0: not held
    std::uint64_t x_failures_seen = 0;
    std::int64_t x_rest_until_ms = 0;  // steady
    // The newest snapshot's; empty when it must be looked up, as after one was taken.
    struct place {
        std::uint64_t next_offset = 0;
        std::int64_t time_ms = 0;
    };
    std::optional<place> x_newest;
};

}  // namespace herald::storage::snapshots
