// Connects consumers, delivery machine and writer, and decides what a record of each topic means.
#include "workers/worker.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "events/log/topics.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/binary.hpp"
#include "workers/consumer.hpp"
#include "workers/delivery_machine.hpp"
#include "workers/event_position.hpp"
#include "workers/fan_out.hpp"
#include "workers/limits.hpp"
#include "workers/log_clock_reader.hpp"
#include "workers/record_writer.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t tick_ms = 1'000;
constexpr std::int64_t drain_check_ms = 50;

std::vector<std::string> topics_of(std::string_view group) {
    std::vector<std::string> topics;
    for (const events::log::topic_settings& topic : events::log::all_topics)
        if (topic.group == group) topics.emplace_back(topic.name);
    return topics;
}

template <class T>
result<T> read(const events::log::record& what) {
    if (!what.value) return runtime::invalid_argument("a tombstone");
    return schemas::decode<T>(*what.value);
}

class log_worker final : public worker {
  public:
    log_worker(worker_parts parts, worker_options options, partition_counts partitions)
        : x_scheduler(parts.scheduler),
          x_subscribers(parts.subscribers),
          x_options(std::move(options)),
          x_log_time(parts.log, parts.scheduler),
          x_writer(parts.log, parts.scheduler, std::move(partitions), x_counters),
          x_machine({parts.scheduler, parts.random, parts.keys, parts.subscribers, parts.transport, x_writer,
                     x_log_time.clock(), x_counters},
                    x_options) {
        parts.subscribers.on_change(x_lifetime.guard([this] { x_machine.subscribers_changed(); }));
        join(parts.log, events::log::group::events, &log_worker::take_event, &delivery_machine::takes_events);
        join(parts.log, events::log::group::direct, &log_worker::take_delivery);
        join(parts.log, events::log::group::retry, &log_worker::take_delivery);
        join(parts.log, events::log::group::waiting, &log_worker::take_waiting,
             &delivery_machine::takes_waiting);
        x_scheduler.post(x_lifetime.guard([this] { tick(); }));
    }

    void drain(std::int64_t within_ms, std::function<void()> drained) override {
        for (auto& group : x_groups) group->stop_taking();
        x_machine.drain();
        x_drain_deadline_ms = x_scheduler.time().steady_ms() + within_ms;
        continue_drain(std::move(drained));
    }

    std::optional<runtime::trouble> trouble() const override {
        namespace reason = runtime::not_ready_reason;
        if (x_drain_deadline_ms) return runtime::trouble{reason::draining, "this worker is shutting down"};
        if (x_group_failure) return runtime::trouble{reason::group_failed, x_group_failure->message};
        const auto at_end_ms = x_subscribers.at_end_ms();
        const std::int64_t now_ms = x_scheduler.time().steady_ms();
        if (at_end_ms && now_ms - *at_end_ms <= limits::unheard_ms_max) return std::nullopt;
        return runtime::trouble{reason::subscribers_unreachable,
                                at_end_ms
                                    ? "the log is out of reach: the end of `subscribers` was not seen for " +
                                          std::to_string((now_ms - *at_end_ms) / 1'000) + " s"
                                    : "the end of `subscribers` was not reached yet"};
    }

    const worker_counters& counters() const override { return x_counters; }

    events::log::partition_ends positions() const override {
        events::log::partition_ends all;
        each_partition([&](const assignment& mine) { all.emplace(mine.where, mine.tracker.next_offset()); });
        return all;
    }

    worker_backlog backlog(const events::log::partition_ends& ends) const override {
        worker_backlog now;
        x_machine.read_backlog(now);
        double unread = 0;
        each_partition([&](const assignment& mine) {
            const auto end = ends.find(mine.where);
            const std::string_view group = events::log::find_topic(mine.where.topic)->group;
            if (end == ends.end() || group == events::log::group::retry) return;
            const std::int64_t left = end->second - mine.tracker.read_until();
            if (left <= 0) return;
            now.oldest_ms = std::min(now.oldest_ms, oldest_unread_ms(mine, group));
            if (group == events::log::group::waiting)
                now.room += static_cast<std::uint64_t>(left);
            else
                unread +=
                    static_cast<double>(left) * (group == events::log::group::events ? x_audience.mean() : 1);
        });
        now.unread = static_cast<std::uint64_t>(unread);
        return now;
    }

    worker_gauges gauges() const override {
        worker_gauges now;
        x_machine.read_gauges(now);
        for (const auto& group : x_groups) now.partitions += group->partitions();
        each_partition([&](const assignment& mine) {
            now.oldest_ms = std::min(now.oldest_ms, mine.early.oldest_ms().value_or(now.oldest_ms));
            now.read_ahead_bytes += mine.early.bytes();
        });
        return now;
    }

  private:
    using record_taker = bool (log_worker::*)(consumer&, const std::shared_ptr<assignment>&,
                                              const events::log::record&);

    /// `takes_more`: null for a group that even a late worker reads without pause.
    void join(events::log::partitioned_log& log, std::string_view group, record_taker taker,
              bool (delivery_machine::*takes_more)() = nullptr) {
        const std::size_t place = x_groups.size();
        consumer_handlers handlers;
        handlers.on_record = [this, place, taker](const auto& where, const events::log::record& what) {
            return (this->*taker)(*x_groups[place], where, what);
        };
        handlers.on_recalled = [this](const assignment& wanted) { x_machine.recalled(wanted); };
        handlers.on_release = [this](const assignment& wanted) { x_machine.release(wanted); };
        handlers.on_change = [this] { ++x_counters.group_changes; };
        handlers.on_revoked = [this](const assignment& lost) { x_machine.revoked(lost); };
        handlers.on_failure = [this](const error& failure) {
            x_group_failure = failure;
            x_options.on_failure(failure);
        };
        if (group == events::log::group::waiting)
            handlers.on_early_record = [this, place](const auto& where, const events::log::record& what) {
                return take_early(*x_groups[place], where, what);
            };
        handlers.overloaded = [this, takes_more] {
            return x_memory.bytes() > limits::worker_held_bytes_max ||
                   x_machine.writing_bytes() > limits::worker_writing_bytes_max ||
                   (takes_more != nullptr && !(x_machine.*takes_more)());
        };
        x_groups.push_back(std::make_unique<consumer>(
            log, x_scheduler, x_log_time.clock(), std::string(group), topics_of(group), std::move(handlers)));
    }

    template <class Tell>
    void each_partition(Tell tell) const {
        for (const auto& group : x_groups) group->each_partition(tell);
    }

    /// Log time of the first event that was not taken, or an earlier one; INT64_MAX: not known yet.
    static std::int64_t oldest_unread_ms(const assignment& mine, std::string_view group) {
        const events::log::record* first = mine.early.first();
        if (first == nullptr) return mine.read_ms == 0 ? INT64_MAX : mine.read_ms;
        if (group == events::log::group::waiting)
            if (const auto record = read<schemas::delivery>(*first)) return record->event.time_ms;
        return first->time_ms;
    }

    void tick() {
        for (auto& group : x_groups) group->tick();
        x_machine.tick();
        x_scheduler.run_at(x_scheduler.time().steady_ms() + tick_ms, x_lifetime.guard([this] { tick(); }));
    }

    bool take_event(consumer& reader, const std::shared_ptr<assignment>& where,
                    const events::log::record& what) {
        auto event = read<schemas::event>(what);
        if (!event) return pass_over(*where, what);
        const event_position position{event->generation, event->partition_sequence};
        const bool had = where->tracker.had(what.offset);
        switch (had ? arrival::expected : judge(where->last, position)) {
            case arrival::repeated:
                ++x_counters.events_repeated;
                where->tracker.opened(what.offset, {}, to_text(where->last));
                return true;
            case arrival::after_gap:
                ++x_counters.sequence_gaps;
                log_about(*where, what, runtime::log_events::sequence_gap,
                          to_text(where->last) + " to " + to_text(position));
                break;
            case arrival::expected:
                break;
        }
        ++x_counters.events;
        where->last = std::max(where->last, position);
        std::vector<delivery_of_event> deliveries = fan_out(std::move(*event), x_memory);
        x_audience.add(
            static_cast<std::size_t>(std::ranges::count(deliveries, false, &delivery_of_event::held)));
        const std::vector<std::size_t> left = where->tracker.parts_left(what.offset, deliveries.size());
        // Among records known before, the last one's position stands for all of them.
        const bool inside = where->tracker.had(what.offset + 1);
        where->tracker.opened(what.offset, left, to_text(inside ? position : where->last));
        for (const std::size_t part : left)
            x_machine.accept(std::move(deliveries[part]), {&reader, where, what.offset, part});
        return true;
    }

    bool take_delivery(consumer& reader, const std::shared_ptr<assignment>& where,
                       const events::log::record& what) {
        auto record = read<schemas::delivery>(what);
        if (!record) return pass_over(*where, what);
        // What is replayed waits in its topic until its lane has room.
        const bool is_replay = where->where.topic == events::log::topic::replay;
        if (is_replay && is_open(*where, what) && !x_machine.wants(*record, 0)) return false;
        return take(reader, where, what, *std::move(record), is_replay);
    }

    /// A delivery that waits for room, from a topic without a delay; or from one with a delay, which is over:
    /// it enters, and finds room or goes to another topic.
    bool take_waiting(consumer& reader, const std::shared_ptr<assignment>& where,
                      const events::log::record& what) {
        auto record = read<schemas::delivery>(what);
        if (!record) return pass_over(*where, what);
        const bool has_delay = delay_of(where->where.topic) > 0;
        const std::int64_t waited_ms = x_log_time.clock().now_ms(x_scheduler.time()) - what.time_ms;
        if (!has_delay && is_open(*where, what) && !x_machine.wants(*record, waited_ms)) return false;
        return take(reader, where, what, *std::move(record), true);
    }

    /// The same, while the delay is not over.
    bool take_early(consumer& reader, const std::shared_ptr<assignment>& where,
                    const events::log::record& what) {
        auto record = read<schemas::delivery>(what);
        if (!record) return pass_over(*where, what);
        if (is_open(*where, what) && !x_machine.wants(*record, 0)) return false;
        return take(reader, where, what, *std::move(record), true);
    }

    static bool is_open(const assignment& where, const events::log::record& what) {
        return !where.tracker.parts_left(what.offset, 1).empty();
    }

    bool take(consumer& reader, const std::shared_ptr<assignment>& where, const events::log::record& what,
              schemas::delivery record, bool has_waited) {
        if (record.id.empty()) record.id = schemas::delivery_id(record.event.id, record.webhook_id);
        const std::vector<std::size_t> left = where->tracker.parts_left(what.offset, 1);
        where->tracker.opened(what.offset, left, {});
        if (left.empty()) return true;
        delivery_of_event made = of_record(std::move(record), x_memory);
        made.has_waited = has_waited;
        x_machine.accept(std::move(made), {&reader, where, what.offset});
        return true;
    }

    /// A record that this worker cannot read delays nothing, but raises an alarm.
    bool pass_over(assignment& where, const events::log::record& what) {
        ++x_counters.unreadable;
        log_about(where, what, runtime::log_events::record_unreadable, "the record is passed over");
        const bool unknown = where.last == event_position{} || where.tracker.had(what.offset + 1);
        where.tracker.opened(what.offset, {}, unknown ? "" : to_text(where.last));
        return true;
    }

    static void log_about(const assignment& where, const events::log::record& what, std::string_view event,
                          std::string_view message) {
        runtime::log(runtime::log_level::error, event,
                     {{"topic", where.where.topic},
                      {"partition", std::int64_t{where.where.partition}},
                      {"offset", what.offset},
                      {"message", message}});
    }

    void continue_drain(std::function<void()> drained) {
        const std::int64_t now_ms = x_scheduler.time().steady_ms();
        if ((!x_machine.idle() || !x_writer.idle()) && now_ms < *x_drain_deadline_ms) {
            const auto again = [this, drained = std::move(drained)] { continue_drain(drained); };
            x_scheduler.run_at(now_ms + drain_check_ms, x_lifetime.guard(again));
            return;
        }
        for (auto& group : x_groups) group->leave();
        drained();
    }

    runtime::scheduler& x_scheduler;
    const events::subscriber_table& x_subscribers;
    worker_options x_options;
    worker_counters x_counters;
    event_memory x_memory;
    recent_mean x_audience;  // of events
    log_clock_reader x_log_time;
    record_writer x_writer;
    delivery_machine x_machine;
    std::optional<std::int64_t> x_drain_deadline_ms;  // empty: it is not draining
    std::optional<error> x_group_failure;
    runtime::lifetime x_lifetime;
    std::vector<std::unique_ptr<consumer>> x_groups;
};

}  // namespace

result<std::unique_ptr<worker>> make_worker(worker_parts parts, worker_options options) {
    partition_counts partitions;
    std::vector<std::string_view> written{events::log::topic::dead, events::log::topic::attempts,
                                          events::log::topic::replay};
    for (const retry_tier& tier : waiting_tiers) written.push_back(tier.topic);
    for (const retry_tier& tier : retry_tiers) written.push_back(tier.topic);
    for (const std::string_view topic : written) {
        const result<std::int32_t> count = parts.log.partitions(std::string(topic));
        if (!count) return count.error();
        partitions.emplace(topic, *count);
    }
    return std::unique_ptr<worker>(
        std::make_unique<log_worker>(parts, std::move(options), std::move(partitions)));
}

}  // namespace herald::workers
