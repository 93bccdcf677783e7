// The registry of an API node: its state, the node that applies the log to it, and copies of it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "program/parts/node_parts.hpp"
#include "program/parts/process_end.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/node.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "storage/snapshots/snapshot_store.hpp"
#include "storage/snapshots/snapshot_taker.hpp"

namespace herald::program {

/// Created, called and destroyed by the main thread; destroyed when the loop of the jobs has stopped.
class registry_part {
  public:
    registry_part(const settings&, const api_node_parts&, end_request);

    /// Opens the state; a new one begins with a snapshot, if there is one. Errors: as open_rocks_state, and
    /// those of the store of snapshots.
    result<void> open_state(start_report&);
    /// The node, with the job that takes snapshots; `complete` adds what other parts tell it.
    void make_node(const std::function<void(storage::node::registry_node::options&)>& complete);
    /// Lets go of the node.
    void end();

    storage::rocks::rocks_state& state() noexcept { return *x_state; }
    storage::node::registry_node& node() noexcept { return *x_node; }
    storage::snapshots::snapshot_taker& taker() noexcept { return *x_taker; }
    bool is_disk_low() const { return x_disk.is_low(); }

  private:
    result<void> load_snapshot(start_report&);
    void failed(const storage::node::node_failure&);

    const settings& x_chosen;
    const api_node_parts& x_with;
    const end_request x_end;
    const std::filesystem::path x_folder;
    storage::node::disk_guard x_disk;
    const std::unique_ptr<storage::snapshots::snapshot_store> x_snapshots;
    bool x_has_looked = false;  // for a snapshot to begin with
    std::unique_ptr<storage::rocks::rocks_state> x_state;
    std::unique_ptr<storage::snapshots::snapshot_taker> x_taker;
    std::shared_ptr<storage::node::registry_node> x_node;
};

}  // namespace herald::program
