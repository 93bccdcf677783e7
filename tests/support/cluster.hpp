// API nodes on one log in memory, with a clock moved by hand: for tests of what a node does around the
// engine.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log/topics.hpp"
#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/genesis.hpp"
#include "storage/node/node.hpp"
#include "storage/node/node_metrics.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {

inline const events::log::topic_partition commands_partition{std::string(events::log::topic::commands), 0};

/// The log's faults for one node; none at first.
struct node_faults final : events::log::memory::memory_faults {
    events::log::memory::batch_plan next_batch(const events::log::topic_partition& where,
                                               std::size_t waiting) override {
        if (where != commands_partition) return {fate_of_events, waiting};
        if (fates.empty()) return {events::log::memory::batch_fate::accepted, waiting};
        const events::log::memory::batch_fate next = fates.front();
        fates.erase(fates.begin());
        return {next, 1};
    }
    std::int64_t range_lag(const events::log::topic_partition&) override { return lag; }
    bool reachable() override { return is_reachable; }

    std::vector<events::log::memory::batch_fate> fates;  // for the next batches of commands
    events::log::memory::batch_fate fate_of_events = events::log::memory::batch_fate::accepted;
    std::int64_t lag = 0;
    bool is_reachable = true;
};

struct answer {
    std::vector<result<schemas::commands::outcome>> all;
    bool is_there() const { return !all.empty(); }
    const schemas::commands::outcome& outcome() const {
        EXPECT_EQ(all.size(), 1u);
        EXPECT_TRUE(all.front()) << all.front().error().message;
        return *all.front();
    }
    error_code failure() const {
        EXPECT_EQ(all.size(), 1u);
        EXPECT_FALSE(all.front());
        return all.front().error().code;
    }
};

/// A machine: its state outlives the node that runs on it.
struct machine {
    std::string name;
    std::unique_ptr<storage::registry::state::state_store> store =
        storage::registry::state::make_memory_state();
    node_faults faults;
    std::unique_ptr<events::log::memory::memory_log> log;
    std::shared_ptr<storage::node::registry_node> node;
    std::vector<storage::node::node_failure> failures;
    bool is_paused = false;  // hears nothing of its log
    std::vector<std::function<void()>> unheard;

    std::string hash() const { return node->state_now().hash; }
    std::uint64_t next_offset() const { return node->state_now().next_offset; }
    /// Why it is not ready; empty when it is.
    std::string_view trouble() const {
        const auto now = node->state_now().not_ready;
        return now ? now->reason : std::string_view();
    }
};

class cluster {
  public:
    explicit cluster(storage::node::node_kind the_kind = storage::node::node_kind::cluster) : kind(the_kind) {
        begin();
    }
    ~cluster() {
        for (auto& [name, one] : machines) one.node.reset();
    }

    /// A new log with GENESIS; the previous content is gone.
    void begin() {
        broker = std::make_unique<events::log::memory::memory_broker>(scheduler.clock());
        events::log::memory::memory_log log(*broker, [](const std::function<void()>& task) { task(); });
        ASSERT_TRUE(log.create_topics());
        storage::node::genesis_options options;
        options.admin_email = admin_email;
        options.admin_key = admin_key;
        options.require_approval_for = {schemas::stage::production};
        const auto nothing = storage::registry::state::make_memory_state();
        const auto begun =
            storage::node::begin_log(log, keys, options, *nothing->view(), random, scheduler.clock());
        ASSERT_TRUE(begun) << begun.error().message;
        ASSERT_TRUE(begun->is_new);
    }

    using jobs = std::vector<std::pair<schemas::job, std::shared_ptr<storage::node::claimed_job>>>;
    machine& start(const std::string& name, storage::node::registry_node::options options = {},
                   const jobs& to_do = {}) {
        machine& on = machines[name];
        on.name = name;
        on.node.reset();
        on.log = std::make_unique<events::log::memory::memory_log>(
            *broker,
            [this, &on](std::function<void()> task) {
                if (on.is_paused)
                    on.unheard.push_back(std::move(task));
                else
                    scheduler.post(std::move(task));
            },
            &on.faults);
        options.name = name;
        options.kind = kind;
        options.has_thread = false;
        options.on_failure = [&on](const storage::node::node_failure& failure) {
            on.failures.push_back(failure);
        };
        on.node = storage::node::make_node(options, {*on.log, *on.store, scheduler, random});
        for (const auto& [which, work] : to_do) on.node->add_job(which, work);
        on.node->start();
        scheduler.settle();
        return on;
    }
    void resume(machine& on) {
        on.is_paused = false;
        for (auto& task : std::exchange(on.unheard, {})) scheduler.post(std::move(task));
        scheduler.settle();
    }
    void kill(machine& on) {
        on.log->crash();
        on.node.reset();
    }

    template <class Command>
    std::shared_ptr<answer> submit(machine& on, const Command& command, const std::string& key = {}) {
        const auto got = std::make_shared<answer>();
        schemas::commands::request_identity who = request_of();
        who.idempotency_key = key;
        who.fingerprint = runtime::as_bytes(runtime::sha256(schemas::encode(command)));
        on.node->submit(
            Command::type, schemas::encode(command), std::move(who), random.uuid(),
            [got](result<schemas::commands::outcome> outcome) { got->all.push_back(std::move(outcome)); });
        scheduler.settle();
        return got;
    }
    std::shared_ptr<answer> create_model(machine& on, const std::string& name, const std::string& key = {}) {
        schemas::commands::create_model command;
        command.workspace_name = "Default";
        command.model.name = name;
        return submit(on, command, key);
    }
    std::shared_ptr<std::vector<result<storage::node::registry_node::reading>>> read(machine& on) {
        const auto got = std::make_shared<std::vector<result<storage::node::registry_node::reading>>>();
        on.node->read([got](result<storage::node::registry_node::reading> reading) {
            got->push_back(std::move(reading));
        });
        scheduler.settle();
        return got;
    }

    std::vector<schemas::commands::command_envelope> commands(schemas::commands::command_type type) const {
        std::vector<schemas::commands::command_envelope> found;
        for (const events::log::record& record : broker->records(commands_partition)) {
            auto envelope = schemas::commands::open_envelope(*record.value);
            if (envelope && envelope->type == type) found.push_back(*std::move(envelope));
        }
        return found;
    }
    static std::size_t models(const storage::registry::state::state_view& view) {
        std::size_t count = 0;
        storage::registry::tables::models::each(view, [&](const schemas::registered_model&) {
            ++count;
            return true;
        });
        return count;
    }
    static std::optional<schemas::claim_row> claim(const machine& on, const std::string& job) {
        return storage::registry::tables::claims::find(*on.store->view(), job);
    }

    storage::node::node_kind kind;
    manual_scheduler scheduler;
    test::seeded_random random{7};
    runtime::key_ring keys = runtime::key_ring::of("first", std::string(32, 'k'));
    std::unique_ptr<events::log::memory::memory_broker> broker;
    std::map<std::string, machine> machines;
};

/// A node's part of /metrics; each line begins with "\n".
inline std::string metrics_of(const machine& one) {
    storage::node::node_metrics shown;
    shown.show(one.node->state_now(), std::nullopt);
    return runtime::metrics_text();
}

}  // namespace herald::test
