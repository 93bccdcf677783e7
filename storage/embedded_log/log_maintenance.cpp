// The committer's second thread: retention, compaction, and a check of the clock.

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/embedded_log/limits.hpp"
#include "storage/embedded_log/log_committer.hpp"

namespace herald::storage::embedded_log {
void log_committer::run_maintenance() {
    const runtime::lock_guard lock(x_mutex);
    while (!x_is_stopping) {
        x_maintenance_due.wait_for(x_mutex, std::chrono::milliseconds(x_options.maintenance_interval_ms));
        if (x_is_stopping) return;
        const runtime::unlock_guard unlocked(x_mutex);
        check_clock();
        maintain(maintenance::worthwhile);
    }
}

void log_committer::check_clock() {
    const std::int64_t ahead_ms = x_time->wall_ahead_ms();
    x_wall_ahead.set(ahead_ms / 1'000);
    const bool is_off = std::abs(ahead_ms) > limits::log_clock_off_ms_max;
    if (std::exchange(x_clock_is_off, is_off) == is_off) return;
    runtime::log(is_off ? runtime::log_level::error : runtime::log_level::info,
                 is_off ? runtime::log_events::clock_off : runtime::log_events::clock_right,
                 {{"wall_ahead_seconds", ahead_ms / 1'000}});
}

void log_committer::maintain(maintenance how) {
    const runtime::lock_guard maintaining(x_maintaining);
    if (time_ms() < x_expire_from_ms) return;
    std::vector<log_partition*> all;
    {
        const runtime::lock_guard lock(x_mutex);
        for (auto& [where, partition] : x_partitions) all.push_back(&partition);
    }
    for (log_partition* each : all) {
        if (each->settings == nullptr) continue;
        if (each->is_compacted())
            compact(*each, how);
        else if (each->settings->kept_ms >= 0)
            expire(*each);
    }
}

/// The newest record always stays: it gives the next offset when the log is reopened.
void log_committer::expire(log_partition& partition) {
    events::log::offset_range range;
    {
        const runtime::lock_guard lock(x_mutex);
        range = partition.range;
    }
    if (range.next - range.first < 2) return;
    const result<std::int64_t> first_kept =
        x_database.find_expired(partition.where, {range.first, range.next - 1},
                                time_ms() - partition.settings->kept_ms, limits::log_expired_per_round_max);
    if (!first_kept || *first_kept == range.first) return;
    {
        const runtime::lock_guard lock(x_mutex);
        partition.range.first = *first_kept;
    }
    // If it fails, the next open finds the records again.
    (void)x_database.erase(partition.where, {range.first, *first_kept});
}

void log_committer::compact(log_partition& partition, maintenance how) {
    events::log::offset_range range;
    std::int64_t appended = 0;
    {
        const runtime::lock_guard lock(x_mutex);
        range = partition.range;
        appended = partition.uncompacted;
        const std::int64_t worthwhile = std::max(x_options.compaction_appends_min, partition.compacted);
        if (how == maintenance::worthwhile && appended < worthwhile) return;
    }
    const std::int64_t now_ms = time_ms();
    const result<std::int64_t> stayed = x_database.compact(
        partition.where, range, {now_ms - x_options.compaction_lag_ms, now_ms - x_options.tombstone_kept_ms});
    if (!stayed) return;
    const runtime::lock_guard lock(x_mutex);
    partition.uncompacted -= appended;
    partition.compacted = *stayed;
}

}  // namespace herald::storage::embedded_log
