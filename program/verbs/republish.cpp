// herald republish: appends the events of the outbox to their topics again, for topics that were lost. It
// appends behind the present end of each partition, so that sequences stay in order: workers drop events
// behind a higher sequence.
#include <iostream>
#include <map>

#include "events/log/topics.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "program/verbs/work_state.hpp"
#include "runtime/clock.hpp"
#include "schemas/binary.hpp"
#include "storage/backup/limits.hpp"
#include "storage/backup/log_appender.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/node/outbox_view.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::program {
namespace {

using events::log::topic_partition;
using storage::node::place_of;
namespace tables = storage::registry::tables;

/// A running API node says a heartbeat every few seconds, and one of them publishes. Errors:
/// failed_precondition when there is one; those of the log.
result<void> check_nobody_publishes(events::log::partitioned_log& log) {
    const topic_partition commands{std::string(events::log::topic::commands), 0};
    const auto range = storage::backup::range_of(log, commands);
    if (!range) return range.error();
    std::cerr << "herald: looking for running API nodes for " << limits::republish_watch_ms / 1'000
              << " s, because none may publish meanwhile\n";
    const auto reader = log.open_reader(commands, range->next);
    const std::int64_t end_ms = runtime::system_clock().steady_ms() + limits::republish_watch_ms;
    while (runtime::system_clock().steady_ms() < end_ms) {
        const auto batch = reader->poll(1, 200);
        if (!batch) return batch.error();
        if (!batch->records.empty())
            return runtime::failed_precondition(
                "API nodes are running, and one of them publishes events: events published beside it would "
                "come in disorder, and be lost. Stop all API nodes, republish, and start them again");
    }
    return {};
}

/// Where the rows of a partition continue behind its topic. Errors: failed_precondition when the topic has
/// later events without earlier ones: those can no longer come before them.
result<std::uint64_t> first_missing(events::log::partitioned_log& log, const work_state& state,
                                    std::uint32_t generation, const topic_partition& where) {
    const auto range = storage::backup::range_of(log, where);
    if (!range) return range.error();
    std::uint64_t last = 0;  // of the sequences that follow each other from the beginning of the topic
    std::uint64_t first_row = 1;
    const auto view = state.rows().view();
    tables::outbox::each_of(*view, place_of(where), 1, [&](const schemas::event& event, std::string_view) {
        first_row = event.partition_sequence;
        return false;
    });
    const auto read = storage::backup::each_record(
        log, where, range->first, range->next, [&](const events::log::record& one) -> result<void> {
            const auto event = schemas::decode<schemas::event>(one.value.value_or(""));
            if (!event || event->generation != generation || event->partition_sequence <= last) return {};
            // What is older than the topic keeps its records was there once.
            const bool is_begin = last == 0 && (range->first > 0 || event->partition_sequence <= first_row);
            if (!is_begin && event->partition_sequence != last + 1)
                return runtime::failed_precondition(
                    {"the topic ", where.topic, "[", where.partition, "] has event ",
                     event->partition_sequence, " of this partition, but not ", std::max(last + 1, first_row),
                     ", which can no longer come before it. Delete the topic, run `herald init` (it makes "
                     "what "
                     "is missing) and `herald groups --reset`, then republish"});
            last = event->partition_sequence;
            return {};
        });
    if (!read) return read.error();
    return std::max(last + 1, first_row);
}

/// Appends only published rows: the publisher brings the rest, in order. Returns how many.
result<std::uint64_t> republish(events::log::partitioned_log& log, const work_state& state) {
    const storage::node::outbox_view outbox(state.rows());
    const auto view = state.rows().view();
    // All are looked at before the first is changed.
    std::map<topic_partition, std::uint64_t> begins;
    for (const topic_partition& where : outbox.output_partitions()) {
        const auto first = first_missing(log, state, outbox.generation(), where);
        if (!first) return first.error();
        begins[where] = *first;
    }
    storage::backup::log_appender to(log);
    std::uint64_t appended = 0;
    for (const auto& [where, first] : begins) {
        result<void> done;
        const std::uint64_t last = outbox.published(where);
        tables::outbox::each_of(*view, place_of(where), first,
                                [&, &at = where](const schemas::event& event, std::string_view row) {
                                    if (event.partition_sequence > last) return false;
                                    done = to.append(at, event.resource_id, std::string(row));
                                    if (done) ++appended;
                                    return done.has_value();
                                });
        if (!done) return done.error();
    }
    if (const auto there = to.finish(); !there) return there.error();
    return appended;
}

}  // namespace

process_end run_republish(const settings& chosen) {
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    if (is_on_kafka(chosen))
        if (const auto alone = check_nobody_publishes(**log); !alone) return failed(alone.error());
    const auto state = make_work_state(chosen, **log, {});
    if (!state) return failed(state.error());
    if ((*state)->position().next_offset == 0)
        return failed(runtime::not_found("there is no installation in this log yet"));
    const auto appended = republish(**log, **state);
    if (!appended) return failed(appended.error());
    std::cout << "published " << *appended << " events again\n";
    return process_end::done;
}

}  // namespace herald::program
