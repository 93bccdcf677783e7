// The mutations of design.md §1 and wire.md §3: what apply decides, what it is given, and what is between it
// and the log.
#include <algorithm>
#include <utility>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/support/forwarding.hpp"

namespace herald::test {
namespace {

using schemas::commands::command_envelope;
using schemas::commands::command_type;
using storage::registry::context::timer_kind;
using storage::registry::state::state_view;
using storage::registry::tables::key_of;
using storage::registry::tables::table;

constexpr std::int64_t hour_ms = 3'600'000;

// ---- what apply is given

template <class Command>
std::string with(std::string_view body, const std::function<void(Command&)>& change) {
    auto command = schemas::decode<Command>(body);
    if (!command) return std::string(body);
    change(*command);
    return schemas::encode(*command);
}

/// Changes the body of each command of that type.
template <class Command>
apply_change changed(std::function<void(Command&, const state_view& before)> change) {
    apply_change all;
    all.record = resealed([change = std::move(change)](command_envelope& command, const state_view& before) {
        if (command.type == Command::type)
            command.body = with<Command>(command.body, [&](Command& body) { change(body, before); });
    });
    return all;
}

apply_change changed_envelope(std::function<void(command_envelope&, const state_view& before)> change) {
    apply_change all;
    all.record = resealed(std::move(change));
    return all;
}

std::uint64_t token_of(const state_view& state, std::string_view job) {
    const auto claim =
        storage::registry::tables::find_row<schemas::claim_row>(state, key_of(table::claim).text(job));
    return claim ? claim->token : 0;
}

void show_the_key_that_is_valid(command_envelope& command, const state_view& before) {
    const auto user = storage::registry::tables::find_row<schemas::user>(
        before, key_of(table::user).number(command.request.principal));
    if (user) command.request.credential_hash = user->primary_key_hash;
}

void call_it_ours(command_envelope& command, const state_view& before) {
    const auto ours =
        storage::registry::tables::find_row<schemas::commands::genesis>(before, key_of(table::installation));
    if (!ours) return;
    command.log_id = ours->log_id;
    command.generation = ours->generation;
}

void mend_the_checksum(events::log::record& record, const state_view&) {
    constexpr std::size_t before_the_envelope = 12;  // magic and checksum
    if (!record.value || record.value->size() < before_the_envelope) return;
    const auto command = schemas::decode<command_envelope>(record.value->substr(before_the_envelope));
    if (command) record.value = schemas::commands::seal_envelope(*command);
}

void believe_the_broker(events::log::record& record, const state_view& before) {
    resealed([&record](command_envelope& command, const state_view&) {
        command.sender_clock_ms = record.time_ms;
    })(record, before);
}

apply_change late(std::function<std::int64_t(timer_kind)> by_ms) {
    apply_change all;
    all.late_by_ms = std::move(by_ms);
    return all;
}

apply_change without(std::function<bool(const command_envelope&, std::string_view key)> hidden) {
    apply_change all;
    all.hidden = std::move(hidden);
    return all;
}

bool is_of(std::string_view key, table which) { return key.front() == static_cast<char>(which); }

/// Whoever asks for a job counts as just heard.
apply_change claimants_heard() {
    apply_change all;
    all.row = [](const command_envelope& command, std::int64_t now_ms, std::string_view key,
                 std::string& row) {
        if (command.type != schemas::commands::claim::type || !is_of(key, table::node)) return;
        const auto wanted = schemas::decode<schemas::commands::claim>(command.body);
        if (wanted && key.substr(1) == wanted->node)
            row = with<schemas::node_row>(row, [&](auto& node) { node.last_heartbeat_ms = now_ms; });
    };
    return all;
}

// ---- the log

bool is_commands(const events::log::topic_partition& where) {
    return where.topic == events::log::topic::commands;
}

/// Reads as if its own state were complete.
class barrier_not_awaited final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (!is_commands(where)) return x_to.query_range(where, std::move(handler));
        x_to.query_range(where, [handler](const auto& range) {
            handler(range ? result<events::log::offset_range>(events::log::offset_range{0, 0}) : range);
        });
    }
};

/// While the log is out of reach, reads are answered as if nothing were missing.
class stale_not_said final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (!is_commands(where)) return x_to.query_range(where, std::move(handler));
        x_to.query_range(where, [handler](const auto& range) {
            handler(range ? range : result<events::log::offset_range>(events::log::offset_range{0, 0}));
        });
    }
};

/// Changes the handling of a user's command without a key whose append has an unknown outcome.
class other_gateway : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        auto inner = x_to.open_producer(kind);
        if (kind == events::log::producer_kind::strict) return inner;
        return std::make_unique<other_producer>(std::move(inner), *this);
    }

  protected:
    using append_function = std::function<void(events::log::append_handler)>;

  private:
    virtual void is_unknown(const append_function& again, const events::log::append_handler& handler,
                            const error& why) = 0;

    class other_producer final : public events::log::producer {
      public:
        other_producer(std::unique_ptr<events::log::producer> to, other_gateway& by)
            : x_by(by), x_to(std::move(to)) {}
        ~other_producer() override { x_is_ending = true; }
        result<void> append(const events::log::topic_partition& where, std::string key,
                            std::optional<std::string> value, events::log::append_handler handler) override {
            const auto command = schemas::commands::open_envelope(value.value_or(""));
            const bool is_keyless = is_commands(where) && command && command->request.principal.value != 0 &&
                                    command->request.idempotency_key.empty();
            if (!is_keyless) return x_to->append(where, std::move(key), std::move(value), std::move(handler));
            const append_function again = [this, where, key, value](events::log::append_handler next) {
                (void)x_to->append(where, key, value, std::move(next));
            };
            return x_to->append(where, key, value, [this, again, handler](const result<std::int64_t>& done) {
                if (done || x_is_ending) return handler(done);
                x_by.is_unknown(again, handler, done.error());
            });
        }

      private:
        other_gateway& x_by;
        bool x_is_ending = false;
        std::unique_ptr<events::log::producer> x_to;  // destroyed first: its handlers use the rest
    };
};

class keyless_appended_again final : public other_gateway {
  public:
    using other_gateway::other_gateway;

  private:
    void is_unknown(const append_function& again, const events::log::append_handler& handler,
                    const error&) override {
        again(handler);
    }
};

class unknown_called_refused final : public other_gateway {
  public:
    using other_gateway::other_gateway;

  private:
    void is_unknown(const append_function&, const events::log::append_handler& handler,
                    const error& why) override {
        handler(runtime::resource_exhausted(why.message));
    }
};

/// The machine's clock decides whether a timer is due.
class own_clock_believed final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::optional<std::int64_t> time_ms() const override { return std::nullopt; }
};

/// The reader of the commands, with each batch changed.
class other_commands : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        auto reader = x_to.open_reader(where, from);
        if (!is_commands(where)) return reader;
        return std::make_unique<other_reader>(std::move(reader), *this, from);
    }

  private:
    virtual void pass(std::int64_t from, std::vector<events::log::record>&) = 0;

    class other_reader final : public events::log::reader {
      public:
        other_reader(std::unique_ptr<events::log::reader> to, other_commands& by, std::int64_t from)
            : x_to(std::move(to)), x_by(by), x_from(from) {}
        result<events::log::read_batch> poll(std::size_t records_max, std::int64_t wait_ms) override {
            auto batch = x_to->poll(records_max, wait_ms);
            if (batch) x_by.pass(x_from, batch->records);
            return batch;
        }
        void on_ready(std::function<void()> notify) override { x_to->on_ready(std::move(notify)); }

      private:
        const std::unique_ptr<events::log::reader> x_to;
        other_commands& x_by;
        const std::int64_t x_from;
    };
};

/// Time is what the reader's machine says when it reads; here, where it began to.
class time_of_the_reader final : public other_commands {
  public:
    using other_commands::other_commands;

  private:
    void pass(std::int64_t from, std::vector<events::log::record>& records) override {
        for (events::log::record& record : records) record.time_ms += from;
    }
};

/// The newest applied record is never found to be different.
class last_record_not_compared final : public other_commands {
  public:
    using other_commands::other_commands;

  private:
    void pass(std::int64_t from, std::vector<events::log::record>& records) override {
        if (records.empty()) return;
        if (x_last && x_last->offset == from && records.front().offset == from) records.front() = *x_last;
        x_last = records.back();
    }
    std::optional<events::log::record> x_last;
};

// ---- the state

/// Rows and position in two writes.
class position_written_apart final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;
    result<void> write(const storage::registry::state::row_changes& changes) override {
        const std::string key = key_of(table::position);
        storage::registry::state::row_changes position;
        storage::registry::state::row_changes rows;
        for (const auto& [name, row] : changes) (name == key ? position : rows).emplace(name, row);
        if (const auto written = x_to.write(position); !written) return written;
        return x_to.write(rows);
    }
};

class full_disk_not_noticed final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;
    result<void> write(const storage::registry::state::row_changes& changes) override {
        (void)x_to.write(changes);
        return {};
    }
};

/// A restarted process does not know how late it was.
class time_not_kept final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;
    std::shared_ptr<const state_view> view() const override {
        return std::make_shared<timeless_view>(x_to.view());
    }

  private:
    class timeless_view final : public state_view {
      public:
        explicit timeless_view(std::shared_ptr<const state_view> of) : x_of(std::move(of)) {}
        bool read(std::string_view key, const storage::registry::state::row_reader& reader) const override {
            return x_of->read(key, [&](std::string_view row) {
                if (!is_of(key, table::position)) return reader(row);
                reader(with<storage::registry::engine::engine_position>(
                    std::string(row), [](auto& position) { position.time_ms = 0; }));
            });
        }
        void scan(std::string_view prefix, std::string_view from,
                  const storage::registry::state::row_visitor& visit) const override {
            x_of->scan(prefix, from, visit);
        }

      private:
        std::shared_ptr<const state_view> x_of;
    };
};

// ---- all of them

template <class Log>
mutation of_log(std::string_view name, std::string_view what) {
    mutation all{name, what};
    all.node_log = [](events::log::partitioned_log& log, const storage::registry::state::state_store&)
        -> std::unique_ptr<events::log::partitioned_log> { return std::make_unique<Log>(log); };
    return all;
}
template <class Store>
mutation of_store(std::string_view name, std::string_view what) {
    mutation all{name, what};
    all.node_store = [](storage::registry::state::state_store& store)
        -> std::unique_ptr<storage::registry::state::state_store> { return std::make_unique<Store>(store); };
    return all;
}
mutation of_apply(std::string_view name, std::string_view what, apply_change change) {
    mutation all{name, what};
    all.apply = std::move(change);
    return all;
}

mutation minority_not_marked() {
    mutation all{"minority-not-marked", "a node in the minority goes on from the state that it has"};
    all.failure = [](storage::node::node_failure& why) {
        if (why.what == storage::node::node_failure::kind::diverged)
            why.what = storage::node::node_failure::kind::superseded;
    };
    return all;
}

}  // namespace

std::vector<mutation> log_rule_mutations() {
    using schemas::commands::claim;
    using schemas::commands::node_heartbeat;
    using schemas::commands::webhook_health;
    apply_change any_checksum;
    any_checksum.record = mend_the_checksum;
    apply_change any_sender;
    any_sender.record = believe_the_broker;
    return {
        of_apply("checksum-ignored", "a command whose checksum is wrong is applied", any_checksum),
        of_apply("log-id-ignored", "a command of another log or generation is applied",
                 changed_envelope(call_it_ours)),
        of_apply("unknown-command-skipped", "a command of an unknown type is skipped",
                 changed_envelope([](command_envelope& command, const state_view&) {
                     if (command.type == unknown_command)
                         command.type = schemas::commands::no_operation::type;
                 })),
        of_apply("level-ignored", "a command above the level in force is judged by its type alone",
                 changed_envelope([](command_envelope& command, const state_view&) {
                     command.level = schemas::commands::first_level;
                 })),
        of_apply("older-nodes-not-asked", "the level is raised over nodes that run and are older",
                 without([](const command_envelope& command, std::string_view key) {
                     return command.type == schemas::commands::raise_level::type && is_of(key, table::node);
                 })),
        of_apply("credential-not-checked", "apply does not look whether the key is still valid",
                 changed_envelope(show_the_key_that_is_valid)),
        of_apply("outcome-not-looked-up", "a repeat takes effect once more",
                 without([](const command_envelope&, std::string_view key) {
                     return is_of(key, table::outcome);
                 })),
        of_apply("fingerprint-ignored", "another request under the same key gets the first one's answer",
                 changed_envelope([](command_envelope& command, const state_view&) {
                     command.request.fingerprint.clear();
                 })),
        of_apply("outcomes-swept-early", "outcomes are kept for 12 h",
                 late([](timer_kind kind) { return kind == timer_kind::outcome_sweep ? -12 * hour_ms : 0; })),
        of_log<keyless_appended_again>("keyless-appended-again",
                                       "a command without a key is appended again when its fate is unknown"),
        of_log<unknown_called_refused>("unknown-called-refused",
                                       "without a key 503 is answered where the outcome is unknown"),
        of_apply("not-after-ignored", "a command that surfaces late takes effect",
                 changed_envelope(
                     [](command_envelope& command, const state_view&) { command.not_after_ms = INT64_MAX; })),
        of_log<time_of_the_reader>("time-of-the-reader", "apply sees a clock of the machine it runs on"),
        of_apply("sender-not-bounding", "a broker's clock that leaps ahead takes log time with it",
                 any_sender),
        of_log<own_clock_believed>("own-clock-believed",
                                   "standalone the machine's clock counts and not the log's"),
        of_store<time_not_kept>("time-not-kept", "after a start log time goes back"),
        of_apply("timers-an-hour-early", "timers fire an hour early",
                 late([](timer_kind) { return -hour_ms; })),
        of_apply("timers-an-hour-late", "timers fire an hour late", late([](timer_kind) { return hour_ms; })),
        of_store<position_written_apart>("position-written-apart", "rows and position are two writes"),
        of_store<full_disk_not_noticed>("full-disk-not-noticed",
                                        "what a full disk refused counts as written"),
        of_apply("dead-boot-takes-over", "the late heartbeat of a dead process replaces the living one",
                 changed<node_heartbeat>(
                     [](node_heartbeat& beat, const state_view&) { beat.applied_offset = UINT64_MAX; })),
        // Both defences are removed: with one left, a late heartbeat never gets past it.
        of_apply("any-heartbeat-takes-over", "whatever heartbeat comes replaces another process",
                 changed<node_heartbeat>([](node_heartbeat& beat, const state_view&) {
                     beat.first = true;
                     beat.applied_offset = UINT64_MAX;
                 })),
        of_apply("claims-always-free", "a job is given to whoever asks",
                 without([](const command_envelope& command, std::string_view key) {
                     return command.type == schemas::commands::claim::type && is_of(key, table::claim);
                 })),
        of_apply("silent-claims", "who is silent itself takes the job of who has been silent too long",
                 claimants_heard()),
        of_apply("any-token-publishes", "what is published is taken from who no longer holds the claim",
                 changed<node_heartbeat>([](node_heartbeat& beat, const state_view& before) {
                     beat.publisher_token = token_of(before, "publisher");
                 })),
        of_apply("health-with-any-token", "a webhook's health is taken from who no longer holds the job",
                 changed<webhook_health>([](webhook_health& health, const state_view& before) {
                     health.token = token_of(before, "webhook-health");
                 })),
        of_apply("silent-nodes-kept", "nodes are never forgotten", late([](timer_kind kind) {
                     return kind == timer_kind::node_silence ? 1'000 * 24 * hour_ms : 0;
                 })),
        of_apply(
            "hashes-not-compared", "what another node says of its state counts for nothing",
            changed<node_heartbeat>([](node_heartbeat& beat, const state_view&) { beat.vouches = false; })),
        of_apply("second-transition-taken", "what is open to the same stage is not looked for",
                 without([](const command_envelope& command, std::string_view key) {
                     return command.type == schemas::commands::create_transition::type &&
                            is_of(key, table::open_transition);
                 })),
        of_apply("promotion-outlives-its-stage", "leaving PRODUCTION does not end the promotion",
                 without([](const command_envelope& command, std::string_view key) {
                     return command.type == schemas::commands::commit_transition::type &&
                            is_of(key, table::promotion);
                 })),
        of_apply(
            "late-completion-taken", "what was read before the commit completes the promotion",
            changed<schemas::commands::update_version>([](schemas::commands::update_version& update,
                                                          const state_view&) { update.time_updated = 0; })),
        minority_not_marked(),
        of_log<last_record_not_compared>("last-record-not-compared",
                                         "after a break the newest applied record is not compared"),
        of_log<barrier_not_awaited>("barrier-not-awaited",
                                    "a read is answered before the barrier is applied"),
        of_log<stale_not_said>("stale-not-said", "a read without the log does not say that it may be stale"),
    };
}

}  // namespace herald::test
