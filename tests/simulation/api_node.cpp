#include "tests/simulation/api_node.hpp"

#include <algorithm>
#include <utility>

#include "storage/engine.hpp"
#include "storage/node/node.hpp"
#include "storage/tables.hpp"

namespace herald::simulation {

// ---- the disk
// -----------------------------------------------------------------------------------------------------

result<void> losing_store::write(const storage::row_changes& changes) {
    storage::row_changes undo;
    {
        const auto before = x_rows->view();
        for (const auto& [key, value] : changes) undo.emplace(key, before->get(key));
    }
    const std::string position_key = storage::key_of(storage::table::position);
    if (const auto row = changes.find(position_key); row != changes.end()) {
        const auto position = storage::decode_row<storage::engine_position>(row->first, *row->second);
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

// ---- the process
// --------------------------------------------------------------------------------------------------

/// Lives on its thread; when that is dead no task of it runs any more, so tasks may hold `this`.
class api_node::process {
  public:
    process(world& in, const settings& how, events::log& log, storage::state_store& store,
            process_thread& thread)
        : x_log(how.broken.node_log(log, store)), x_store(how.broken.node_store(store)) {
        storage::node::options options;
        options.name = how.name;
        options.kind = how.kind;
        options.has_thread = false;
        options.on_failure = [&how](const storage::node_failure& failure) {
            // The late heartbeat of an earlier process of this node looks like a later one's: this one gives
            // way.
            if (failure.what != storage::node_failure::kind::superseded)
                throw rule_broken{how.name + " cannot go on: " + failure.message};
            how.on_exit();
        };
        x_node = storage::make_node(std::move(options), {*x_log, *x_store, thread, in.chance.source()});
        x_node->start();
    }

    storage::node& node() { return *x_node; }

  private:
    const std::unique_ptr<events::log> x_log;
    const std::unique_ptr<storage::state_store> x_store;
    std::shared_ptr<storage::node> x_node;
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
    x_log = std::make_unique<events::memory_log>(
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
std::uint64_t api_node::next_offset() const { return x_process->node().state_now().next_offset; }

schemas::uuid api_node::send(const request& what, reply_handler handler) {
    schemas::request_identity who;
    who.principal = what.user;
    who.credential_hash = what.credential_hash;
    who.scope = "POST /" + std::to_string(static_cast<unsigned>(what.type));
    who.idempotency_key = what.idempotency_key;
    who.fingerprint = runtime::as_bytes(runtime::sha256(what.body));
    const schemas::uuid command_id = x_world.chance.source().uuid();
    x_process->node().submit(what.type, what.body, std::move(who), command_id,
                             [handler = std::move(handler)](const result<schemas::outcome>& heard) {
                                 if (heard) return handler({reply::kind::answered, *heard});
                                 const bool unavailable = heard.error().code == error_code::unavailable;
                                 handler({unavailable ? reply::kind::unavailable : reply::kind::unknown, {}});
                             });
    return command_id;
}

}  // namespace herald::simulation
