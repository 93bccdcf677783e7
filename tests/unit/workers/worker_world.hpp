// A worker with everything around it, in one thread: the log in memory, a clock moved by hand, scripted
// receivers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/node/limits.hpp"
#include "tests/log/memory/memory_broker.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/support/seeded_random.hpp"
#include "tests/unit/workers/scripted_transport.hpp"
#include "workers/worker.hpp"

namespace herald::test {

inline constexpr std::int64_t second = 1'000;
inline constexpr std::int64_t minute = 60 * second;
inline constexpr std::int64_t hour = 60 * minute;

inline auto answers(std::uint16_t status) {
    return [status](const sent_request&) { return receiver_behaviour{.status = status}; };
}

/// A worker process: can be started, crashed and started again on the same broker.
struct worker_process {
    worker_process(events::log::memory::memory_broker& broker, manual_scheduler& scheduler,
                   scripted_transport& transport, const runtime::key_ring& keys,
                   events::log::memory::memory_faults* faults, workers::worker_options options)
        : log(
              broker, [&scheduler](auto work) { scheduler.post(std::move(work)); }, faults),
          table(events::make_subscriber_table(log, scheduler)) {
        options.on_failure = [this](const error& reason) { failures.push_back(reason.message); };
        mine = workers::make_worker({log, scheduler, random, keys, *table, transport}, std::move(options))
                   .value();
    }

    test::seeded_random random{7};
    std::vector<std::string> failures;
    events::log::memory::memory_log log;
    std::shared_ptr<events::subscriber_table> table;
    std::unique_ptr<workers::worker> mine;
};

class worker_world {
  public:
    worker_world() {
        EXPECT_TRUE(x_writer_log.create_topics());
        x_writer = x_writer_log.open_producer(events::log::producer_kind::ordinary);
        write_head(0);
    }

    void start() { x_process = make_process(); }
    std::unique_ptr<worker_process> make_process() {
        return std::make_unique<worker_process>(broker, scheduler, transport, keys, &faults, options);
    }
    /// Everything in memory is lost; the group notices at once.
    void crash() {
        x_process->log.crash();
        x_process.reset();
        for (const auto group : {events::log::group::events, events::log::group::direct,
                                 events::log::group::retry, events::log::group::waiting})
            for (const events::log::memory::member_id member : broker.members(std::string(group)))
                broker.expel(std::string(group), member);
    }
    void stop() { x_process.reset(); }
    worker_process& process() { return *x_process; }
    const workers::worker_counters& counters() { return x_process->mine->counters(); }
    workers::worker_gauges gauges() { return x_process->mine->gauges(); }

    // ---- webhooks

    schemas::subscriber webhook(std::uint64_t id, std::uint64_t revision = 1) {
        schemas::subscriber row;
        row.webhook_id = {id};
        row.workspace_id = {1};
        row.revision = revision;
        row.settings.location =
            "https://receiver-" + std::to_string(id) + ".example/" + std::to_string(revision);
        row.seal_binding = "webhook:" + std::to_string(id);
        row.sealed_secret = keys.seal(row.seal_binding, "secret-" + std::to_string(id), x_random);
        return row;
    }
    void write_webhook(const schemas::subscriber& row) {
        write({"subscribers", 0}, events::subscriber_key(row.webhook_id), schemas::encode(row));
        write_head(row.revision);
    }
    void write_webhooks(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t id = first; id <= last; ++id) write_webhook(webhook(id));
    }
    void delete_webhook(std::uint64_t id, std::uint64_t revision) {
        write({"subscribers", 0}, events::subscriber_key({id}), std::nullopt);
        write_head(revision);
    }
    void write_head(std::uint64_t offset) {
        const schemas::subscribers_head head{1, offset};
        write({"subscribers", 0}, std::string(events::subscribers_head_key), schemas::encode(head));
    }

    // ---- events and deliveries

    /// The next event of partition 0 of events.promote, at offset 100 of the registry's log.
    schemas::event event_for(const std::vector<std::uint64_t>& webhooks) {
        schemas::event event;
        event.type = schemas::event_type::promote;
        event.resource_type = schemas::resource_type::registered_model_version;
        event.resource_id = "5";
        event.workspace_id = {1};
        event.time_ms = scheduler.time().wall_ms();
        event.generation = 1;
        event.offset = 100;
        event.partition_sequence = ++x_sequence;
        event.id = "1-" + std::to_string(x_sequence);
        event.body = "{\"number\":" + std::to_string(x_sequence) + "}";
        for (const std::uint64_t id : webhooks) event.audience.push_back({{id}, false});
        return event;
    }
    schemas::event publish(const std::vector<std::uint64_t>& webhooks) {
        const schemas::event event = event_for(webhooks);
        publish(event);
        return event;
    }
    void publish(const schemas::event& event) {
        write(event_partition, event.resource_id, schemas::encode(event));
    }
    schemas::delivery direct(std::uint64_t webhook, schemas::delivery_source source) {
        schemas::delivery delivery;
        delivery.event = event_for({});
        delivery.event.partition_sequence = 0;
        --x_sequence;
        delivery.event.id = "direct-" + std::to_string(++x_direct);
        delivery.webhook_id = {webhook};
        delivery.source = source;
        delivery.call_id = "call-" + std::to_string(x_direct);
        if (source == schemas::delivery_source::test)
            delivery.deadline_ms = scheduler.time().wall_ms() + limits::test_deadline_ms;
        return delivery;
    }
    /// As an API node sends it that answered a read.
    schemas::delivery read_of(std::uint64_t webhook) {
        schemas::delivery delivery = direct(webhook, schemas::delivery_source::event);
        delivery.event.type = schemas::event_type::read;
        delivery.event.offset = 0;
        delivery.call_id.clear();
        delivery.deadline_ms = scheduler.time().wall_ms() + limits::read_event_deadline_ms;
        return delivery;
    }
    void write_direct(const schemas::delivery& delivery) {
        write({"deliveries.direct", 0}, "1", schemas::encode(delivery));
    }
    void write(const events::log::topic_partition& where, std::string key, std::optional<std::string> value) {
        const auto taken =
            x_writer->append(where, std::move(key), std::move(value),
                             [](const result<std::int64_t>& outcome) { EXPECT_TRUE(outcome); });
        EXPECT_TRUE(taken);
        scheduler.settle();
    }

    /// From now on API nodes send heartbeats.
    void start_heartbeats() {
        write({"registry.commands", 0}, "", "a heartbeat");
        scheduler.run_at(scheduler.time().steady_ms() + limits::heartbeat_interval_ms,
                         [this] { start_heartbeats(); });
    }

    // ---- results

    template <class T>
    std::vector<T> all_of(std::string_view topic) {
        std::vector<T> found;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            for (const events::log::record& one : broker.records({std::string(topic), partition}))
                found.push_back(schemas::decode<T>(*one.value).value());
        return found;
    }
    std::vector<schemas::attempt> attempts() { return all_of<schemas::attempt>("attempts"); }
    std::vector<schemas::attempt> attempts_of(std::uint64_t webhook) {
        std::vector<schemas::attempt> found;
        for (schemas::attempt& one : attempts())
            if (one.webhook_id.value == webhook) found.push_back(std::move(one));
        return found;
    }
    std::vector<schemas::delivery> dead() { return all_of<schemas::delivery>("dead"); }
    std::int64_t committed(const events::log::topic_partition& where = event_partition) {
        const auto group = std::string(events::log::find_topic(where.topic)->group);
        return broker.committed(group, where).value().first;
    }

    /// Faults that a test may set; none at first.
    struct switchable_faults final : events::log::memory::memory_faults {
        std::function<events::log::memory::batch_fate(const events::log::topic_partition&)> fate;
        bool cut_off = false;
        events::log::memory::batch_plan next_batch(const events::log::topic_partition& where,
                                                   std::size_t waiting) override {
            return {fate ? fate(where) : events::log::memory::batch_fate::accepted, waiting};
        }
        bool reachable() override { return !cut_off; }
    };

    inline static const events::log::topic_partition event_partition{"events.promote", 0};

    /// Right even if the worker's clock is wrong, unless the test makes it jump.
    class logs_own_clock final : public runtime::clock {
      public:
        explicit logs_own_clock(const runtime::clock& workers) : x_workers(workers) {}
        void jump_ms(std::int64_t by) { x_start_ms += by; }
        std::int64_t wall_ms() const noexcept override { return x_start_ms + x_workers.steady_ms(); }
        std::int64_t steady_ms() const noexcept override { return x_workers.steady_ms(); }

      private:
        const runtime::clock& x_workers;
        std::int64_t x_start_ms = x_workers.wall_ms() - x_workers.steady_ms();
    };

    manual_scheduler scheduler;
    logs_own_clock log_time{scheduler.clock()};
    events::log::memory::memory_broker broker{log_time};
    switchable_faults faults;
    workers::worker_options options;
    runtime::key_ring keys = runtime::key_ring::of("first", std::string(32, 'k'));
    scripted_transport transport{scheduler};

  private:
    events::log::memory::memory_log x_writer_log{broker,
                                                 [this](auto work) { scheduler.post(std::move(work)); }};
    test::seeded_random x_random{1};
    std::unique_ptr<events::log::producer> x_writer;
    std::unique_ptr<worker_process> x_process;
    std::uint64_t x_sequence = 0;
    std::uint64_t x_direct = 0;
};

/// Of the whole worker, in files by subject.
struct worker_test : testing::Test, worker_world {};

}  // namespace herald::test
