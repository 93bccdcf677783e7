#include "tests/simulation/worker_machine.hpp"

#include <algorithm>

#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/key_ring.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/support/forwarding.hpp"
#include "workers/worker.hpp"

namespace herald::test {
namespace {

constexpr std::int64_t start_again_ms = 500;
constexpr std::int64_t clock_wrong_ms_max = 3 * 24 * 3'600'000ll;
constexpr std::string_view groups[] = {events::log::group::events, events::log::group::direct,
                                       events::log::group::retry, events::log::group::waiting};

using membership = std::vector<std::pair<std::string, events::log::memory::member_id>>;

membership members_of_all_groups(const events::log::memory::memory_broker& broker) {
    membership all;
    for (const std::string_view group : groups)
        for (const events::log::memory::member_id member : broker.members(std::string(group)))
            all.emplace_back(group, member);
    return all;
}

/// Sees every commit of the consumers of events.
class watched_log final : public forwarding_log {
  public:
    watched_log(events::log::partitioned_log& to, const events::log::memory::memory_broker& broker)
        : forwarding_log(to), x_broker(broker) {}
    std::unique_ptr<events::log::group_member> join(const std::string& group,
                                                    const std::vector<std::string>& topics) override {
        auto member = x_to.join(group, topics);
        if (group != events::log::group::events) return member;
        return std::make_unique<watched_member>(std::move(member), x_broker);
    }

  private:
    class watched_member final : public forwarding_member {
      public:
        watched_member(std::unique_ptr<events::log::group_member> to,
                       const events::log::memory::memory_broker& broker)
            : forwarding_member(std::move(to)), x_broker(broker) {}
        void commit(const events::log::topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                    std::string metadata) override {
            check_position(x_broker, where, next_offset, metadata);
            x_to->commit(where, epoch, next_offset, std::move(metadata));
        }

      private:
        const events::log::memory::memory_broker& x_broker;
    };
    const events::log::memory::memory_broker& x_broker;
};

/// Consumers either lose their positions or are checked for keeping them.
std::unique_ptr<events::log::partitioned_log> groups_of(events::log::partitioned_log& log,
                                                        const worker_machine::settings& how, dice& chance) {
    if (how.loses_positions) return losing_positions(log, chance);
    return std::make_unique<watched_log>(log, how.broker);
}

}  // namespace

/// Lives on its thread; once that is dead, none of its tasks run, so tasks may hold `this`.
class worker_machine::process {
  public:
    process(world& in, settings& how, events::log::partitioned_log& log, process_thread& thread)
        : x_world(in),
          x_settings(how),
          x_groups(groups_of(log, how, in.chance)),
          x_log(how.broken.worker_log(*x_groups, how.state)),
          x_thread(thread),
          x_transport(how.to.make_transport(thread)),
          x_subscribers(events::make_subscriber_table(*x_log, thread)) {
        start_worker();
    }

    const membership& members() const { return x_members; }

  private:
    void start_worker() {
        const membership before = members_of_all_groups(x_settings.broker);
        workers::worker_options options;
        options.on_failure = [](const error& reason) {
            throw rule_broken{"a consumer group cannot go on: " + reason.message};
        };
        auto made = workers::make_worker(
            {*x_log, x_thread, x_world.chance.source(), x_keys, *x_subscribers, *x_transport},
            std::move(options));
        if (!made) {
            x_thread.run_at(x_world.time.now_ms() + start_again_ms, [this] { start_worker(); });
            return;
        }
        x_worker = *std::move(made);
        for (auto& member : members_of_all_groups(x_settings.broker))
            if (std::ranges::find(before, member) == before.end()) x_members.push_back(member);
    }

    world& x_world;
    settings& x_settings;
    const std::unique_ptr<events::log::partitioned_log> x_groups;
    const std::unique_ptr<events::log::partitioned_log> x_log;
    process_thread& x_thread;
    const runtime::key_ring x_keys = runtime::key_ring::of("simulated", std::string(32, 'k'));
    const std::unique_ptr<workers::transport> x_transport;
    const std::shared_ptr<events::subscriber_table> x_subscribers;
    std::unique_ptr<workers::worker> x_worker;
    membership x_members;
};

worker_machine::worker_machine(world& in, settings how) : x_world(in), x_settings(std::move(how)) {}

worker_machine::~worker_machine() {
    if (running()) crash();
}

void worker_machine::start() {
    x_thread = &x_world.time.start_thread();
    const std::int64_t wrong_by_ms = x_world.chance.between(-clock_wrong_ms_max, clock_wrong_ms_max);
    if (x_world.chance.one_in(2)) x_thread->clock().jump_wall_ms(wrong_by_ms);
    x_log = std::make_unique<events::log::memory::memory_log>(
        x_settings.broker, [thread = x_thread](std::function<void()> task) { thread->post(std::move(task)); },
        &x_settings.faults);
    x_process = std::make_unique<process>(x_world, x_settings, *x_log, *x_thread);
}

void worker_machine::crash() {
    x_log->crash();
    x_thread->die();
    const membership lost = x_process->members();
    x_process.reset();
    x_log.reset();
    for (const auto& [group, member] : lost) {
        x_settings.broker.expel(group, member);
        x_settings.broker.rebalance(group);
    }
}

}  // namespace herald::test
