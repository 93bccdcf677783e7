#include "storage/snapshots/snapshot_taker.hpp"

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/snapshots/snapshot_files.hpp"

namespace herald::storage::snapshots {

result<void> snapshot_taker::begin() {
    // A snapshot might take the room that the state itself needs.
    if (x_is_disk_low()) return runtime::unavailable("too little disk space is left to take a snapshot");
    auto begun = x_task.begin([this](const std::stop_token& stop) { take(stop); });
    if (!begun && begun.error().code == error_code::already_exists)
        return runtime::already_exists("a snapshot is being taken already; wait until it is listed");
    return begun;
}

void snapshot_taker::take(const std::stop_token& stop) {
    std::string reason;
    try {
        if (const auto taken = take_snapshot(x_state, x_store, stop); !taken) reason = taken.error().message;
    } catch (const registry::state::state_unreadable& unreadable) {
        x_store.clear();
        reason = unreadable.what();
    }
    if (reason.empty() || stop.stop_requested()) return;
    ++x_failures;
    runtime::log(runtime::log_level::error, runtime::log_events::snapshot_failed, {{"reason", reason}});
}

result<std::vector<snapshot_row>> snapshot_taker::list() const {
    const auto names = x_store.names();
    if (!names) return names.error();
    std::vector<snapshot_row> rows;
    for (const std::string& name : *names) {
        const auto list = list_of(x_store, name);
        if (!list) continue;
        snapshot_row row{name, list->generation, list->next_offset, list->time_ms, 0, digest_of(*list)};
        for (const snapshot_list::file& each : list->files) row.bytes += each.bytes;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace herald::storage::snapshots
