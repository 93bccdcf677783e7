#include "storage/snapshots/snapshot_job.hpp"

#include "runtime/lifetime.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/snapshots/limits.hpp"
#include "storage/snapshots/snapshot_files.hpp"

namespace herald::storage::snapshots {

void snapshot_job::start(std::uint64_t token) {
    x_token = token;
    x_newest.reset();  // another node may have taken some
    look(token);
}

void snapshot_job::look(std::uint64_t token) {
    if (token != x_token) return;
    try {
        if (!x_taker.is_taking() && !is_resting() && !x_is_disk_low() && is_due()) {
            x_newest.reset();
            // One that an administrator asked for a moment ago will do as well.
            (void)x_taker.begin();
        }
    } catch (const registry::state::state_unreadable&) {
        return;  // the node ends, and its database is opened again
    }
    x_scheduler.run_at(
        x_scheduler.time().steady_ms() + limits::snapshot_look_ms,
        runtime::if_alive(weak_from_this(), [token](snapshot_job& self) { self.look(token); }));
}

/// Each attempt reads and copies the whole database, and its files keep room that may be what is lacking.
bool snapshot_job::is_resting() {
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    if (const std::uint64_t failures = x_taker.failures(); failures != x_failures_seen) {
        x_failures_seen = failures;
        x_rest_until_ms = now_ms + limits::snapshot_rest_ms;
    }
    return now_ms < x_rest_until_ms;
}

bool snapshot_job::is_due() {
    const auto view = x_state.view();
    const auto position = registry::tables::positions::find(*view);
    if (!position || position->next_offset < limits::snapshot_records_min) return false;
    if (!x_newest) {
        const auto log = registry::tables::installation::find(*view);
        const auto found = log ? newest_of(x_store, log->log_id, log->generation) : std::nullopt;
        x_newest = found ? place{found->next_offset, found->time_ms} : place{};
    }
    if (x_newest->next_offset == 0) return true;
    return position->next_offset >= x_newest->next_offset + limits::snapshot_records_min &&
           position->time_ms >= x_newest->time_ms + limits::snapshot_interval_ms;
}

}  // namespace herald::storage::snapshots
