#include "tests/simulation/api_node.hpp"

#include <algorithm>
#include <utility>

#include "events/publisher.hpp"
#include "events/topics.hpp"
#include "runtime/limits.hpp"
#include "storage/engine.hpp"
#include "storage/tables.hpp"
#include "tests/simulation/state_outbox.hpp"

namespace herald::simulation {
namespace {

constexpr std::int64_t tick_ms = 500;
constexpr std::int64_t append_again_ms = 200;
const events::topic_partition commands_partition{std::string(events::topic::commands), 0};

}  // namespace

// ---- the disk
// -----------------------------------------------------------------------------------------------------

result<void> losing_store::write(const storage::row_changes& changes) {
    storage::row_changes undo;
    {
        const auto before = x_rows->view();
        for (const auto& [key, value] : changes) undo.emplace(key, before->get(key));
    }
    if (const auto row = changes.find(std::string(storage::key_of(storage::table::position)));
        row != changes.end()) {
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
// ------------------------------------------------------------------------------------------------

/// Lives on its thread; when that is dead no task of it runs any more, so tasks may hold `this`.
class api_node::process {
  public:
    process(world& in, const settings& how, events::log& log, storage::state_store& store,
            process_thread& thread)
        : x_world(in),
          x_settings(how),
          x_log(how.wrap_log(log)),
          x_store(how.wrap_store(store)),
          x_thread(thread),
          x_engine(*x_store),
          x_outbox(make_state_outbox(*x_store)),
          x_publisher(events::make_publisher(*x_log, *x_outbox, thread)),
          x_producer(x_log->open_producer(events::producer_kind::ordinary)) {
        in.chance.source().fill(x_boot.data(), x_boot.size());
        const auto next = static_cast<std::int64_t>(x_engine.position().next_offset);
        x_reader = x_log->open_reader(commands_partition, next);
        x_reader->on_ready([this, &thread] { thread.post([this] { apply_some(); }); });
        thread.post([this] { tick(); });
    }

    bool serves() const { return x_heartbeat_applied; }
    std::uint64_t next_offset() const { return x_engine.position().next_offset; }

    schemas::uuid send(const request& what, reply_handler handler) {
        schemas::request_identity who;
        who.principal = what.user;
        who.credential_hash = what.credential_hash;
        who.scope = "POST /" + std::to_string(static_cast<unsigned>(what.type));
        who.idempotency_key = what.idempotency_key;
        who.fingerprint = runtime::as_bytes(runtime::sha256(what.body));
        return send_command(what.type, what.body, std::move(who), std::move(handler));
    }

  private:
    struct waiter {
        bool has_key = false;
        reply_handler handler;
    };

    // ---- sending

    template <class Command>
    void send_own(const Command& command, reply_handler handler) {
        send_command(Command::type, schemas::encode(command), {}, std::move(handler));
    }

    schemas::uuid send_command(schemas::command_type type, std::string body, schemas::request_identity who,
                               reply_handler handler) {
        schemas::command_envelope envelope;
        envelope.log_id = x_engine.installation()->log_id;
        envelope.generation = x_engine.installation()->generation;
        x_world.chance.source().fill(envelope.command_id.data(), envelope.command_id.size());
        const bool has_key = !who.idempotency_key.empty();
        envelope.request = std::move(who);
        envelope.sender_clock_ms = x_thread.time().wall_ms();
        envelope.not_after_ms = x_engine.position().time_ms + limits::not_after_ms;
        envelope.type = type;
        envelope.body = std::move(body);
        const schemas::uuid id = envelope.command_id;
        x_waiters[id] = {has_key, std::move(handler)};
        append(id, schemas::seal_envelope(envelope));
        x_thread.run_at(x_world.time.now_ms() + limits::outcome_wait_ms_max, [this, id, has_key] {
            give_up(id, has_key ? reply::kind::unavailable : reply::kind::unknown);
        });
        return id;
    }

    void append(const schemas::uuid& id, const std::string& bytes) {
        const auto accepted =
            x_producer->append(commands_partition, "", bytes,
                               [this, id, bytes, &thread = x_thread](const result<std::int64_t>& done) {
                                   if (!done) thread.post([this, id, bytes] { append_failed(id, bytes); });
                               });
        if (!accepted) append_failed(id, bytes);
    }

    /// With a key the client asks again. Without, the same bytes are appended again, and the outcome is
    /// waited for.
    void append_failed(const schemas::uuid& id, const std::string& bytes) {
        const auto waiting = x_waiters.find(id);
        if (waiting == x_waiters.end()) return;
        if (waiting->second.has_key) return give_up(id, reply::kind::unavailable);
        x_thread.run_at(x_world.time.now_ms() + append_again_ms, [this, id, bytes] {
            if (x_waiters.contains(id)) append(id, bytes);
        });
    }

    void give_up(const schemas::uuid& id, reply::kind what) {
        const auto waiting = x_waiters.find(id);
        if (waiting == x_waiters.end()) return;
        const reply_handler handler = std::move(waiting->second.handler);
        x_waiters.erase(waiting);
        if (handler) handler({what, {}});
    }

    // ---- applying

    void apply_some() {
        const auto batch = x_reader->poll(static_cast<std::size_t>(x_world.chance.between(1, 8)), 0);
        if (!batch) {
            if (batch.error().code == error_code::unavailable) return;
            throw rule_broken{x_settings.name + " cannot read the commands: " + batch.error().message};
        }
        for (const events::record& record : batch->records) {
            const auto done = x_engine.apply(record);
            if (!done) throw rule_broken{x_settings.name + " cannot apply: " + done.error().message};
            x_applied.push_back(*done);
        }
        // Between applying and writing the process can die.
        if (!x_applied.empty()) x_thread.post([this] { write(); });
        if (!batch->at_end && !batch->records.empty()) x_thread.post([this] { apply_some(); });
    }

    void write() {
        if (x_applied.empty()) return;
        if (!x_engine.write()) throw rule_broken{"the state cannot be written"};
        for (const storage::applied_record& done : std::exchange(x_applied, {})) {
            const auto waiting = done.command_id ? x_waiters.find(*done.command_id) : x_waiters.end();
            if (waiting == x_waiters.end()) continue;
            const reply_handler handler = std::move(waiting->second.handler);
            x_waiters.erase(waiting);
            if (handler) handler({reply::kind::answered, done.outcome});
        }
        x_publisher->wake();
        follow_claim();
    }

    // ---- heartbeat and claim

    void tick() {
        apply_some();
        if (x_engine.installation()) {
            heartbeat();
            follow_claim();
        }
        x_thread.run_at(x_world.time.now_ms() + tick_ms, [this] { tick(); });
    }

    void heartbeat() {
        const std::int64_t now = x_world.time.now_ms();
        if (now < x_next_heartbeat_ms) return;
        x_next_heartbeat_ms = now + limits::heartbeat_interval_ms;
        schemas::node_heartbeat beat;
        beat.node = x_settings.name;
        beat.boot = x_boot;
        beat.applied_offset = x_engine.position().next_offset - 1;
        beat.hash_offset = x_engine.position().exchange_offset;
        beat.hash = x_engine.position().exchange_hash;
        beat.published = x_publisher->published();
        beat.publisher_token = x_publisher->token();
        beat.first = !x_heartbeat_applied;
        send_own(beat, [this](const reply& heard) {
            if (heard.what == reply::kind::answered && heard.outcome.code == 0) x_heartbeat_applied = true;
        });
    }

    void follow_claim() {
        if (!x_heartbeat_applied || !x_applied.empty()) return;
        const auto view = x_store->view();
        const auto row = storage::find_row<schemas::claim_row>(
            *view, storage::key_of(storage::table::claim).text("publisher"));
        const bool mine = row && row->node == x_settings.name && row->boot == x_boot;
        if (mine) {
            x_publisher->start(row->token);
            return;
        }
        x_publisher->stop();
        if (x_claiming || (row && holder_lives(*view, *row))) return;
        x_claiming = true;
        send_own(schemas::claim{"publisher", x_settings.name, x_boot},
                 [this](const reply&) { x_claiming = false; });
    }

    bool holder_lives(const storage::state_view& view, const schemas::claim_row& row) const {
        if (row.node == x_settings.name) return false;  // an earlier boot of this node
        const auto holder =
            storage::find_row<schemas::node_row>(view, storage::key_of(storage::table::node).text(row.node));
        return holder && holder->boot == row.boot &&
               x_engine.position().time_ms - holder->last_heartbeat_ms <= limits::claim_lapse_ms;
    }

    world& x_world;
    const settings& x_settings;
    const std::unique_ptr<events::log> x_log;
    const std::unique_ptr<storage::state_store> x_store;
    process_thread& x_thread;
    storage::engine x_engine;
    schemas::uuid x_boot{};
    std::unique_ptr<events::outbox> x_outbox;
    std::shared_ptr<events::publisher> x_publisher;
    std::unique_ptr<events::producer> x_producer;
    std::unique_ptr<events::reader> x_reader;
    std::vector<storage::applied_record> x_applied;  // not yet written
    std::map<schemas::uuid, waiter> x_waiters;
    std::int64_t x_next_heartbeat_ms = 0;
    bool x_heartbeat_applied = false;
    bool x_claiming = false;
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

bool api_node::serves() const { return running() && x_process->serves(); }
schemas::uuid api_node::send(const request& what, reply_handler handler) {
    return x_process->send(what, std::move(handler));
}
process_thread& api_node::thread() { return *x_thread; }
std::uint64_t api_node::next_offset() const { return x_process->next_offset(); }

}  // namespace herald::simulation
