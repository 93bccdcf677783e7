// Takes a snapshot of a node's state beside its other work, for a job or an administrator.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/background_task.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "storage/snapshots/snapshot_desk.hpp"
#include "storage/snapshots/snapshot_store.hpp"

namespace herald::storage::snapshots {

/// The destructor interrupts one that is being taken, and waits until it has ended: about as long as a piece
/// of a file takes. The parts that it uses must outlive it.
class snapshot_taker final : public snapshot_desk {
  public:
    snapshot_taker(const rocks::rocks_state& state, snapshot_store& store, std::function<bool()> is_disk_low)
        : x_state(state), x_store(store), x_is_disk_low(std::move(is_disk_low)) {}

    result<void> begin() override;
    bool is_taking() const override { return x_task.is_running(); }
    result<std::vector<snapshot_row>> list() const override;
    /// The state is not to be trusted: a snapshot that is being taken is not kept, and no other is taken.
    /// Waits for that.
    void forbid() { x_task.end(); }
    /// How many have failed since the start.
    std::uint64_t failures() const noexcept { return x_failures; }

  private:
    void take(const std::stop_token& stop);

    const rocks::rocks_state& x_state;
    snapshot_store& x_store;
    const std::function<bool()> x_is_disk_low;
    std::atomic<std::uint64_t> x_failures = 0;
    runtime::background_task x_task;  // the last: it uses the others
};

}  // namespace herald::storage::snapshots
