#include "tests/simulation/api_node.hpp"

#include <algorithm>
#include <utility>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "schemas/webhooks.hpp"
#include "storage/deliveries/webhook_health_job.hpp"
#include "storage/node/node.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/simulation/changed_apply.hpp"
#include "tests/support/forwarding.hpp"

namespace herald::test {

namespace {

constexpr std::int64_t attempts_look_ms = 1'000;

}  // namespace

// ---- the disk
// -----------------------------------------------------------------------------------------------------

result<void> losing_store::write(const storage::registry::state::row_changes& changes) {
    if (x_is_full) return runtime::unavailable("the disk is full");
    storage::registry::state::row_changes undo;
    {
        const auto before = x_rows->view();
        for (const auto& [key, value] : changes) undo.emplace(key, before->get(key));
    }
    const std::string position_key =
        storage::registry::tables::key_of(storage::registry::tables::table::position);
    if (const auto row = changes.find(position_key); row != changes.end()) {
        const auto position =
            storage::registry::tables::decode_row<storage::registry::engine::engine_position>(row->first,
                                                                                              *row->second);
        x_agreed.note(x_node, position.last_record_offset, position.hash);
    }
    x_undo.push_back(std::move(undo));
    if (x_undo.size() > writes_kept) x_undo.pop_front();
    return x_rows->write(changes);
}

void losing_store::lose_newest(std::size_t writes) {
    for (; writes > 0 && !x_undo.empty(); --writes) {
        (void)x_rows->write(x_undo.back());
        x_undo.pop_back();
    }
}

void losing_store::spoil() {
    const std::string key = storage::registry::tables::key_of(storage::registry::tables::table::position);
    auto position = *storage::registry::tables::find_row<storage::registry::engine::engine_position>(
        *x_rows->view(), key);
    position.hash.front() ^= 1;
    (void)x_rows->write({{key, schemas::encode(position)}});
    x_undo.clear();
}

void losing_store::wipe() {
    x_rows = storage::registry::state::make_memory_state();
    x_undo.clear();
}

// ---- the process
// --------------------------------------------------------------------------------------------------

/// Lives on its thread; once that is dead, none of its tasks run, so tasks may hold `this`.
class api_node::process {
  public:
    process(world& in, const settings& how, events::log::partitioned_log& log,
            storage::registry::state::state_store& store, process_thread& thread)
        : x_own_log(log, how),
          x_log(how.broken.node_log(x_own_log, store)),
          x_store(how.broken.node_store(store)),
          x_changed(how.broken.apply, *x_log, *x_store),
          x_thread(thread) {
        storage::node::registry_node::options options;
        options.name = how.name;
        options.kind = how.kind;
        options.has_thread = false;
        options.on_failure = how.on_failure;
        if (how.change_options) how.change_options(options);
        x_node = storage::node::make_node(std::move(options),
                                          {x_changed.log(), x_changed.store(), thread, in.chance.source()});
        x_health = std::make_shared<storage::deliveries::webhook_health_job>(*x_node, x_changed.store(),
                                                                             thread, in.chance.source());
        x_node->add_job(schemas::job::webhook_health, x_health);
        x_node->start();
        look_at_attempts();
    }

    storage::node::registry_node& node() { return *x_node; }

  private:
    /// Stands for the history of deliveries, which is beside the state: what workers report reaches the
    /// health job.
    void look_at_attempts() {
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition) {
            const events::log::topic_partition where{std::string(events::log::topic::attempts), partition};
            if (!x_attempts.contains(where)) x_attempts[where] = x_log->open_reader(where, x_seen[where]);
            const auto batch = x_attempts[where]->poll(1'000, 0);
            if (!batch) {
                x_attempts.erase(where);
                continue;
            }
            for (const events::log::record& record : batch->records) {
                x_seen[where] = record.offset + 1;
                if (const auto attempt = schemas::decode<schemas::attempt>(record.value.value_or("")))
                    x_health->observe(*attempt);
            }
        }
        x_thread.run_at(x_thread.time().steady_ms() + attempts_look_ms, [this] { look_at_attempts(); });
    }

    /// Standalone: the log is this machine's own, and gives the time.
    class own_log final : public forwarding_log {
      public:
        own_log(events::log::partitioned_log& to, const settings& how)
            : forwarding_log(to),
              x_is_own(how.kind == storage::node::node_kind::standalone),
              x_time(how.brokers_time) {}
        std::optional<std::int64_t> time_ms() const override {
            return x_is_own ? std::optional(x_time.wall_ms()) : std::nullopt;
        }

      private:
        const bool x_is_own;
        const runtime::clock& x_time;
    };

    own_log x_own_log;
    const std::unique_ptr<events::log::partitioned_log> x_log;
    const std::unique_ptr<storage::registry::state::state_store> x_store;
    changed_apply x_changed;
    process_thread& x_thread;
    std::shared_ptr<storage::node::registry_node> x_node;
    std::shared_ptr<storage::deliveries::webhook_health_job> x_health;
    std::map<events::log::topic_partition, std::unique_ptr<events::log::reader>> x_attempts;
    std::map<events::log::topic_partition, std::int64_t> x_seen;
};

// ---- the machine
// --------------------------------------------------------------------------------------------------

api_node::api_node(world& in, settings how)
    : x_world(in), x_settings(std::move(how)), x_store(in.agreed, x_settings.name) {}
api_node::~api_node() {
    if (running()) crash(0);
}

void api_node::start() {
    x_thread = &x_world.time.start_thread();
    x_log = std::make_unique<events::log::memory::memory_log>(
        x_settings.broker, [thread = x_thread](std::function<void()> task) { thread->post(std::move(task)); },
        &x_settings.faults);
    x_process = std::make_unique<process>(x_world, x_settings, *x_log, x_store, *x_thread);
}

void api_node::crash(std::size_t writes_lost) {
    x_log->crash();
    x_thread->die();
    x_process.reset();
    x_log.reset();
    x_store.lose_newest(writes_lost);
}

bool api_node::serves() const { return running() && x_process->node().ready(); }
process_thread& api_node::thread() { return *x_thread; }
storage::node::registry_node::status api_node::status() const { return x_process->node().state_now(); }

storage::node::registry_node& api_node::node() const { return x_process->node(); }

schemas::uuid api_node::send(const request& what, reply_handler handler) {
    schemas::commands::request_identity who;
    who.principal = what.user;
    who.credential_hash = what.credential_hash;
    who.scope = "POST /" + std::to_string(static_cast<unsigned>(what.type));
    who.idempotency_key = what.idempotency_key;
    who.fingerprint = runtime::as_bytes(runtime::sha256(what.body));
    const schemas::uuid command_id = x_world.chance.source().uuid();
    x_process->node().submit(
        what.type, what.body, std::move(who), command_id,
        [handler = std::move(handler), command_id](const result<schemas::commands::outcome>& heard) {
            if (heard) return handler({reply::kind::answered, *heard, command_id});
            const bool unavailable = heard.error().code == error_code::unavailable;
            const bool refused = heard.error().code == error_code::invalid_argument;
            if (refused) {  // on arrival
                schemas::commands::outcome outcome;
                outcome.code = static_cast<std::uint32_t>(heard.error().code);
                return handler({reply::kind::answered, outcome, command_id});
            }
            handler({unavailable ? reply::kind::unavailable : reply::kind::unknown, {}, command_id});
        });
    return command_id;
}

void api_node::read(storage::node::registry_node::reading_handler handler) {
    x_thread->post([process = x_process.get(), handler = std::move(handler)]() mutable {
        process->node().read(std::move(handler));
    });
}

}  // namespace herald::test
