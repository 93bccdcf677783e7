#include "storage/backup/restore_backup.hpp"

#include <map>
#include <unordered_map>

#include "events/log/topics.hpp"
#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "storage/backup/log_appender.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/node/genesis.hpp"

namespace herald::storage::backup {
namespace {

using events::log::topic_partition;
using schemas::commands::genesis;

constexpr std::int64_t applied_within_ms = 24ll * 3'600'000;

genesis next_generation(const backup_summary& from, runtime::random_source& random) {
    genesis next = from.header.log;
    next.log_id = random.uuid();
    next.generation = from.header.log.generation + 1;
    next.parent_log_id = runtime::to_hex(runtime::as_bytes(from.header.log.log_id));
    next.snapshot_digest = from.end.rows_digest;
    next.records_digest = from.end.records_digest;
    next.level = from.header.level;
    next.parent_time_ms = from.header.time_ms;
    return next;
}

/// Seals commands of the new log and appends them.
class command_writer {
  public:
    command_writer(const genesis& log, log_appender& to, runtime::random_source& random,
                   const runtime::clock& clock)
        : x_log(log), x_to(to), x_random(random), x_clock(clock) {}

    template <class Command>
    result<void> append(const Command& command) {
        schemas::commands::command_envelope envelope = schemas::commands::make_envelope(command);
        envelope.log_id = x_log.log_id;
        envelope.generation = x_log.generation;
        envelope.command_id = x_random.uuid();
        envelope.sender_clock_ms = x_clock.wall_ms();
        envelope.not_after_ms = std::max(envelope.sender_clock_ms, x_log.parent_time_ms) + applied_within_ms;
        return x_to.append({std::string(events::log::topic::commands), 0}, "",
                           schemas::commands::seal_envelope(envelope));
    }

  private:
    const genesis& x_log;
    log_appender& x_to;
    runtime::random_source& x_random;
    const runtime::clock& x_clock;
};

/// Another log may have other numbers of partitions, but for events.
class record_writer {
  public:
    record_writer(events::log::partitioned_log& log, log_appender& to) : x_log(log), x_to(to) {}

    /// Records that an interrupted restore has appended are not appended again. Errors: those of the log.
    result<void> find_appended() {
        for (const events::log::topic_settings& topic : events::log::all_topics) {
            if (topic.name == events::log::topic::commands || topic.policy == events::log::cleanup::compact)
                continue;
            const std::string name(topic.name);
            const auto partitions = x_log.partitions(name);
            if (!partitions) return partitions.error();
            for (std::int32_t number = 0; number < *partitions; ++number)
                if (const auto found = find_appended_in({name, number}); !found) return found;
        }
        return {};
    }

    result<void> append(const carried_record& one) {
        const auto where = place_of(one);
        if (!where) return where.error();
        if (const auto found = x_appended.find(mark_of(*where, one.key, one.value));
            found != x_appended.end() && found->second > 0) {
            --found->second;
            return {};
        }
        return x_to.append(*where, one.key, one.value);
    }

    /// Whether a restore that was cut off has appended it.
    result<bool> has(const carried_record& one) {
        if (x_appended.empty()) return false;
        const auto where = place_of(one);
        if (!where) return where.error();
        return x_appended.contains(mark_of(*where, one.key, one.value));
    }

  private:
    static std::string mark_of(const topic_partition& where, const std::string& key,
                               const std::string& value) {
        const std::string place =
            where.topic + "[" + std::to_string(where.partition) + "]" + std::to_string(key.size()) + ":";
        return std::string(runtime::as_bytes(runtime::sha256(place + key + value)));
    }

    result<topic_partition> place_of(const carried_record& one) {
        auto partitions = x_partitions.find(one.topic);
        if (partitions == x_partitions.end()) {
            const auto count = x_log.partitions(one.topic);
            if (!count) return count.error();
            partitions = x_partitions.emplace(one.topic, static_cast<std::uint32_t>(*count)).first;
        }
        return topic_partition{one.topic, static_cast<std::int32_t>(one.partition % partitions->second)};
    }

    result<void> find_appended_in(const topic_partition& where) {
        const auto range = range_of(x_log, where);
        if (!range) return range.error();
        return each_record(x_log, where, range->first, range->next,
                           [&](const events::log::record& one) -> result<void> {
                               if (one.value) ++x_appended[mark_of(where, one.key, *one.value)];
                               return {};
                           });
    }

    events::log::partitioned_log& x_log;
    log_appender& x_to;
    std::map<std::string, std::uint32_t> x_partitions;
    std::unordered_map<std::string, std::uint32_t> x_appended;  // how often each record is there already
};

/// A dead delivery that is tried again: the same event and webhook-id, and no attempt yet. Anything but a
/// delivery stays where it was.
carried_record tried_again(const carried_record& dead) {
    const auto was = schemas::decode<schemas::delivery>(dead.value);
    if (!was) return dead;
    schemas::delivery again;
    again.id = was->id;
    again.webhook_id = was->webhook_id;
    again.event = was->event;
    again.source = schemas::delivery_source::resend;
    return {std::string(events::log::topic::direct), dead.partition, dead.key, schemas::encode(again)};
}

/// One that was dead, in the way that was chosen. Errors: failed_precondition when it was restored in the
/// other way before the restore was cut off, and might be sent twice or be lost; those of the log.
result<void> append_dead(record_writer& records, const carried_record& dead, dead_deliveries chosen) {
    const carried_record again = tried_again(dead);
    const bool is_tried = chosen == dead_deliveries::tried_again;
    if (again.topic == dead.topic) return records.append(dead);
    const auto was_otherwise = records.has(is_tried ? dead : again);
    if (!was_otherwise) return was_otherwise.error();
    if (*was_otherwise)
        return runtime::failed_precondition(
            {"this restore was begun ", (is_tried ? "without" : "with"),
             " --retry-dead, and was cut off: continue in the same way, or begin anew in an empty log"});
    return records.append(is_tried ? again : dead);
}

}  // namespace

result<backup_summary> restore_backup(const std::filesystem::path& file, events::log::partitioned_log& log,
                                      const runtime::key_ring& keys, restored_deliveries chosen,
                                      runtime::random_source& random, const runtime::clock& clock) {
    const auto backup = verify_backup(file);
    if (!backup) return backup;
    if (backup->header.log.key_check != keys.check_value())
        return runtime::failed_precondition(
            {"the backup ", file.string(),
             " was made with another key ring, and its secrets cannot be read "
             "with this one; give that one with --key-ring"});
    if (backup->header.level > schemas::commands::newest_level)
        return runtime::failed_precondition({"the backup is of level ", backup->header.level,
                                             ", and this program goes up to level ",
                                             schemas::commands::newest_level, ": install a newer program"});
    const genesis next = next_generation(*backup, random);
    const auto begun = node::continue_log(log, keys, next, random, clock);
    if (!begun) return begun.error();
    log_appender to(log);
    command_writer commands(*begun, to, random, clock);
    record_writer records(log, to);
    if (begun->log_id != next.log_id)  // it was begun before
        if (const auto found = records.find_appended(); !found) return found.error();
    const backup_visitor visitor{
        [&](const schemas::commands::restore_rows& piece) { return commands.append(piece); },
        [&](const carried_records& some) -> result<void> {
            for (const carried_record& one : some.records) {
                const bool is_dead = one.topic == events::log::topic::dead;
                const auto appended = is_dead ? append_dead(records, one, chosen.dead) : records.append(one);
                if (!appended) return appended;
            }
            return {};
        }};
    if (const auto visited = visit_backup(file, visitor); !visited) return visited.error();
    // The deliveries must be there before anybody may serve.
    if (const auto there = to.finish(); !there) return there.error();
    schemas::commands::end_restore end;
    end.pieces = backup->end.pieces;
    end.paused = chosen.begin == deliveries::paused;
    if (const auto ended = commands.append(end); !ended) return ended.error();
    if (const auto there = to.finish(); !there) return there.error();
    return backup;
}

}  // namespace herald::storage::backup
