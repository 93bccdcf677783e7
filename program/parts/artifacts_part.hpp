// The artifacts of an API node: their store, whose it is, and the job that erases what nothing refers to.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "api/calls/transfer_places.hpp"
#include "program/parts/node_parts.hpp"
#include "runtime/event_loop.hpp"
#include "storage/artifacts/collector/collector_job.hpp"
#include "storage/artifacts/collector/store_watch.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::program {

class registry_part;

/// Created, called and destroyed by the main thread, but for watch() and leave(); destroyed when the loop of
/// the jobs has stopped.
class artifacts_part {
  public:
    artifacts_part(const settings& chosen, const api_node_parts& with);

    /// Opens the store and looks whose it is. Errors: those of open_artifacts and store_check.
    result<void> open(registry_part&);
    /// Before the node starts.
    void add_collector(registry_part&);
    /// See store_watch. On the loop of the jobs.
    void watch(registry_part&, std::function<void(const result<void>&)> judged);
    void leave() {
        if (x_watch) x_watch->leave();
    }
    void end();

    storage::artifacts::artifact_store& store() noexcept { return *x_store; }
    /// Until the store is found to be this log's, no upload begins.
    api::calls::artifact_transfers& transfers() noexcept { return x_transfers; }
    bool is_checked() const noexcept { return x_transfers.is_store_checked; }

  private:
    const settings& x_chosen;
    const api_node_parts& x_with;
    /// They end before the loops that their calls answer to.
    runtime::blocking_pool x_calls;
    runtime::blocking_pool x_reads;
    std::unique_ptr<storage::artifacts::artifact_store> x_store;
    std::optional<storage::artifacts::collector::store_watch> x_watch;  // on the loop of the jobs
    std::shared_ptr<storage::artifacts::collector::collector_job> x_collector;
    api::calls::artifact_transfers x_transfers;
};

}  // namespace herald::program
