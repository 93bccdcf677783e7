#include "tests/simulation/workers/scaling_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/key_ring.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/simulation/workers/broken_rules.hpp"
#include "tests/simulation/world.hpp"
#include "workers/retry_policy.hpp"
#include "workers/worker.hpp"

namespace herald::test {
namespace {

using events::log::topic_partition;

constexpr std::size_t workers_max = 6;
constexpr std::int64_t drain_ms = 9'000;
constexpr std::int64_t still_ms = 100;          // as long as a quota holds a process up
constexpr std::int64_t long_answer_ms = 1'500;  // less than a partition waits for what runs
constexpr std::int64_t task_us = 200;           // of CPU time, of a worker with a quota
constexpr double share_min = 0.06;
constexpr std::size_t in_memory_max = 2'500;      // of a worker that is late: the rest is for others to take
constexpr std::size_t repeats_per_mille = 50;     // of workers that are late and come and go all the time
constexpr std::int64_t arrives_ms_max = 600'000;  // after the last event, in a group that has come to rest
constexpr std::array groups{events::log::group::events, events::log::group::direct, events::log::group::retry,
                            events::log::group::waiting};

/// Counts what arrives; answers everything with 204. Some answers take long, unless `is_prompt`.
class well_receivers {
  public:
    well_receivers(world& in, bool is_prompt, const broken_rule& broken)
        : x_world(in), x_is_prompt(is_prompt), x_broken(broken) {}
    std::unique_ptr<workers::transport> make_transport(process_thread& thread) {
        return std::make_unique<network>(*this, thread);
    }
    std::size_t arrived() const { return x_arrived.size(); }
    std::size_t repeats() const { return x_repeats; }

  private:
    class attempt final : public workers::attempt_handle {
      public:
        explicit attempt(std::shared_ptr<bool> wanted) : x_wanted(std::move(wanted)) {}
        ~attempt() override { *x_wanted = false; }
        bool on_the_wire() const noexcept override { return true; }

      private:
        std::shared_ptr<bool> x_wanted;
    };
    class network final : public workers::transport {
      public:
        network(well_receivers& to, process_thread& thread) : x_to(to), x_thread(thread) {}
        std::unique_ptr<workers::attempt_handle> post(workers::delivery_request request,
                                                      callback done) override {
            x_to.take(request);
            dice& chance = x_to.x_world.chance;
            const bool is_long = !x_to.x_is_prompt && chance.one_in(12);
            const std::int64_t takes_ms = chance.between(0, is_long ? long_answer_ms : 20);
            const auto wanted = std::make_shared<bool>(true);
            const std::int64_t sent_ms = x_to.x_world.time.now_ms();
            x_thread.run_at(sent_ms + takes_ms, [this, wanted, done, sent_ms, takes_ms] {
                workers::delivery_answer answer;
                answer.status = 204;
                answer.answer_ms =
                    x_to.x_broken.is_timed_by_the_loop ? x_to.x_world.time.now_ms() - sent_ms : takes_ms;
                if (*wanted) done(answer);
            });
            return std::make_unique<attempt>(wanted);
        }

      private:
        well_receivers& x_to;
        process_thread& x_thread;
    };

    void take(const workers::delivery_request& request) {
        const auto id = std::ranges::find_if(
            request.headers, [](const runtime::http::header& one) { return one.name == "webhook-id"; });
        if (id == request.headers.end()) throw rule_broken{"a delivery has no webhook-id"};
        if (++x_arrived[id->value] == 1) return;
        ++x_repeats;
        if (!x_is_prompt)
            throw rule_broken{"delivery " + id->value + " was sent twice, though no worker died"};
    }

    world& x_world;
    const bool x_is_prompt;
    const broken_rule& x_broken;
    std::map<std::string, int> x_arrived;  // by webhook-id
    std::size_t x_repeats = 0;
};

/// A worker process: runs until it was told to end and has drained.
class scaled_worker {
  public:
    scaled_worker(world& in, events::log::memory::memory_broker& broker, well_receivers& to,
                  const broken_rule& broken)
        : x_world(in),
          x_thread(in.time.start_thread()),
          x_log(broker, [thread = &x_thread](std::function<void()> task) { thread->post(std::move(task)); }),
          x_groups(with_members(x_log, broken)),
          x_scheduler(scheduler_of(x_thread, broken)),
          x_transport(to.make_transport(x_thread)),
          x_subscribers(events::make_subscriber_table(*x_groups, *x_scheduler)) {
        workers::worker_options options;
        options.on_failure = [](const error& why) {
            throw rule_broken{"a group cannot continue: " + why.message};
        };
        auto made = workers::make_worker(
            {*x_groups, *x_scheduler, in.chance.source(), x_keys, *x_subscribers, *x_transport},
            std::move(options));
        if (!made) throw rule_broken{"a worker does not start: " + made.error().message};
        x_worker = *std::move(made);
    }
    ~scaled_worker() { x_thread.die(); }

    void end() {
        x_is_ending = true;
        x_thread.post([this] { x_worker->drain(drain_ms, [this] { x_has_ended = true; }); });
    }
    bool is_ending() const { return x_is_ending; }
    bool has_ended() const { return x_has_ended; }
    void throttle(double share) { x_thread.throttle(task_us, share); }
    std::uint64_t in_memory() const { return x_worker->gauges().deliveries_in_memory; }
    void stand_still() { x_thread.pause_until(x_world.time.now_ms() + still_ms); }

  private:
    world& x_world;
    process_thread& x_thread;
    events::log::memory::memory_log x_log;
    const std::unique_ptr<events::log::partitioned_log> x_groups;
    const std::unique_ptr<runtime::scheduler> x_scheduler;
    const runtime::key_ring x_keys = runtime::key_ring::of("simulated", std::string(32, 'k'));
    const std::unique_ptr<workers::transport> x_transport;
    const std::shared_ptr<events::subscriber_table> x_subscribers;
    std::unique_ptr<workers::worker> x_worker;
    bool x_is_ending = false;
    bool x_has_ended = false;
};

class scaling_run {
  public:
    scaling_run(std::uint64_t seed, const broken_rule& broken)
        : x_world(seed),
          x_broken(broken),
          x_has_quotas(x_world.chance.one_in(4)),
          x_setup(x_world.time.start_thread()),
          x_broker(x_setup.time()),
          x_log(x_broker, [this](std::function<void()> task) { x_setup.post(std::move(task)); }) {}

    void play() {
        if (!x_log.create_topics()) throw rule_broken{"the topics cannot be created"};
        x_producer = x_log.open_producer(events::log::producer_kind::ordinary);
        write_webhooks();
        add();
        run_for(2'000);
        if (x_has_quotas)
            publish(static_cast<std::size_t>(x_world.chance.between(1'000, 6'000)) / x_webhooks);
        const std::int64_t end_ms = x_world.time.now_ms() + x_world.chance.between(10'000, 30'000);
        while (x_world.time.now_ms() < end_ms) {
            run_for(x_world.chance.between(1, 300));
            act();
        }
        const std::int64_t deadline_ms = x_world.time.now_ms() + arrives_ms_max;
        while (x_receivers.arrived() < x_expected && x_world.time.now_ms() < deadline_ms) run_for(1'000);
        if (x_receivers.arrived() < x_expected)
            throw rule_broken{"of " + std::to_string(x_expected) + " deliveries only " +
                              std::to_string(x_receivers.arrived()) + " arrived"};
        run_for(10'000);  // what would be repeated now
        if (x_has_quotas) must_have_blamed_nobody();
    }

  private:
    void act() {
        dice& chance = x_world.chance;
        switch (chance.between(0, 11)) {
            case 0:
            case 1:
                return add();
            case 2:
                return remove();
            case 3:
                return x_broker.rebalance(std::string(groups[x_world.chance.source().below(groups.size())]));
            case 4:
                return move();
            case 5:
                return chance.pick(x_workers)->stand_still();
            default:
                return publish(static_cast<std::size_t>(chance.between(1, 25)));
        }
    }

    void run_for(std::int64_t ms) {
        x_world.time.run_until(x_world.time.now_ms() + ms);
        if (x_has_quotas)
            for (const auto& one : x_workers)
                if (one->in_memory() >= in_memory_max)
                    throw rule_broken{"a worker that is late holds " + std::to_string(one->in_memory()) +
                                      " deliveries, which nobody else can take"};
        std::erase_if(x_workers, [](const auto& one) { return one->has_ended(); });
    }

    void add() {
        if (x_workers.size() == workers_max) return;
        x_workers.push_back(std::make_unique<scaled_worker>(x_world, x_broker, x_receivers, x_broken));
        if (x_has_quotas)
            x_workers.back()->throttle(share_min * static_cast<double>(x_world.chance.between(1, 4)));
    }

    /// Every receiver is well: what waits in a topic for a time was put there because a worker was late.
    void must_have_blamed_nobody() {
        if (x_receivers.repeats() * 1'000 > x_expected * repeats_per_mille)
            throw rule_broken{std::to_string(x_receivers.repeats()) + " of " + std::to_string(x_expected) +
                              " deliveries were repeated"};
        std::vector<workers::retry_tier> tiers(workers::retry_tiers.begin(), workers::retry_tiers.end());
        tiers.insert(tiers.end(), workers::waiting_tiers.begin(), workers::waiting_tiers.end());
        for (const workers::retry_tier& tier : tiers)
            for (std::int32_t partition = 0; tier.delay_ms > 0 && partition < events::log::partitions_default;
                 ++partition)
                if (!x_broker.records({std::string(tier.topic), partition}).empty())
                    throw rule_broken{"a worker that was late put deliveries off into " +
                                      std::string(tier.topic)};
    }

    void remove() {
        const auto staying =
            std::ranges::count_if(x_workers, [](const auto& one) { return !one->is_ending(); });
        if (staying < 2) return;
        auto& one = x_world.chance.pick(x_workers);
        if (!one->is_ending()) one->end();
    }

    /// A partition of events passes to some member, perhaps to the one that has it.
    void move() {
        const std::string group(events::log::group::events);
        auto members = x_broker.members(group);
        const auto partition = static_cast<std::int32_t>(x_world.chance.between(0, 11));
        x_broker.move(group, {std::string(events::log::topic::promote), partition},
                      x_world.chance.pick(members));
    }

    void append(const topic_partition& where, std::string key, std::string value) {
        const auto taken =
            x_producer->append(where, std::move(key), std::move(value), [](const auto& stored) {
                if (!stored) throw rule_broken{"the set-up could not append"};
            });
        if (!taken) throw rule_broken{"the set-up could not append: " + taken.error().message};
    }

    void write_webhooks() {
        const topic_partition subscribers{std::string(events::log::topic::subscribers), 0};
        x_webhooks = static_cast<std::uint64_t>(x_world.chance.between(1, 6));
        for (std::uint64_t id = 1; id <= x_webhooks; ++id) {
            schemas::subscriber row;
            row.webhook_id = {id};
            row.workspace_id = {1};
            row.revision = 1;
            row.settings.location = "https://receiver-" + std::to_string(id) + ".example/";
            append(subscribers, events::subscriber_key(row.webhook_id), schemas::encode(row));
        }
        append(subscribers, std::string(events::subscribers_head_key),
               schemas::encode(schemas::subscribers_head{1, 1}));
    }

    void publish(std::size_t count) {
        for (; count > 0; --count) {
            const auto partition = static_cast<std::int32_t>(x_world.chance.between(0, 11));
            schemas::event event;
            event.type = schemas::event_type::promote;
            event.resource_type = schemas::resource_type::registered_model_version;
            event.resource_id = std::to_string(partition);
            event.workspace_id = {1};
            event.time_ms = x_setup.time().wall_ms();
            event.generation = 1;
            event.offset = ++x_published;
            event.partition_sequence = ++x_sequences[partition];
            event.id = "1-" + std::to_string(x_published);
            event.body = "{}";
            for (std::uint64_t id = 1; id <= x_webhooks; ++id) event.audience.push_back({{id}, false});
            append({std::string(events::log::topic::promote), partition}, event.resource_id,
                   schemas::encode(event));
            x_expected += x_webhooks;
        }
    }

    world x_world;
    const broken_rule& x_broken;
    const bool x_has_quotas;  // of CPU: every worker is late
    process_thread& x_setup;
    events::log::memory::memory_broker x_broker;
    events::log::memory::memory_log x_log;
    std::unique_ptr<events::log::producer> x_producer;
    well_receivers x_receivers{x_world, x_has_quotas, x_broken};
    std::vector<std::unique_ptr<scaled_worker>> x_workers;
    std::uint64_t x_webhooks = 0;
    std::uint64_t x_published = 0;
    std::map<std::int32_t, std::uint64_t> x_sequences;
    std::size_t x_expected = 0;
};

}  // namespace

std::optional<std::string> simulate_scaling(std::uint64_t seed, std::string_view mutation) {
    try {
        scaling_run(seed, broken_rule_named(mutation)).play();
        return std::nullopt;
    } catch (const rule_broken& broken) {
        return broken.what;
    }
}

}  // namespace herald::test
