// Protects apply: it is total and deterministic, and a repeated request is safe (P1, P5).
#include <gmock/gmock.h>

#include "schemas/commands/limits.hpp"
#include "storage/registry/engine/limits.hpp"
#include "storage/registry/outcomes/limits.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::engine;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using testing::HasSubstr;

schemas::commands::create_model model_command(const std::string& name) {
    schemas::commands::create_model command;
    command.workspace_name = "default";
    command.model.name = name;
    return command;
}

// Apply is total: anything that no version of Herald sends is refused, and nothing is written that a row may
// not contain.
TEST(engine, refuses_what_only_a_broken_sender_can_say) {
    registry registry;
    const auto refusal = [&](const auto& command) {
        const auto outcome = registry.run(command);
        EXPECT_EQ(code_of(outcome), error_code::invalid_argument);
        return outcome.message;
    };
    schemas::commands::create_model model = model_command("m");
    model.model.task_type = static_cast<schemas::task_type>(77);
    EXPECT_THAT(refusal(model), HasSubstr("without a name"));

    schemas::commands::create_user user;
    user.email = "b@example.org";
    user.key_hash = admin_key_hash();
    EXPECT_THAT(refusal(user), HasSubstr("user_uuid is missing"));

    schemas::commands::node_heartbeat beat;
    beat.node = "n";
    beat.first = true;
    beat.runtimes.assign(limits::runtimes_max + 1, "onnx");
    EXPECT_THAT(refusal(beat), HasSubstr("runtimes"));
    beat.runtimes = {std::string(limits::runtime_name_bytes_max + 1, 'r')};
    EXPECT_THAT(refusal(beat), HasSubstr("runtimes"));
    beat.runtimes = {std::string(limits::runtime_name_bytes_max, 'r')};
    beat.published = {{"commands", 0, 1}};
    EXPECT_THAT(refusal(beat), HasSubstr("partitions of events"));
    beat.published = {{"events.promote", 1'000'000, 1}};
    EXPECT_THAT(refusal(beat), HasSubstr("partitions of events"));
    beat.published.clear();
    EXPECT_EQ(registry.run(beat).code, 0u);
    EXPECT_EQ(nodes::find(*registry.view(), "n")->runtimes, beat.runtimes);
}

TEST(engine, refuses_a_log_that_does_not_begin_with_genesis) {
    const auto store = make_memory_state();
    engine fresh(*store);
    const auto applied = fresh.apply({0, 1, "", "no command at all"});
    ASSERT_FALSE(applied);
    EXPECT_THAT(applied.error().message, HasSubstr("GENESIS"));
}

TEST(engine, refuses_bytes_that_are_no_command_and_goes_on) {
    registry registry;
    auto broken = registry.record_of(registry.envelope_of(registry.admin, model_command("a")));
    broken.value->back() = static_cast<char>(broken.value->back() ^ 1);
    const auto applied = registry.engine_of_log.apply(broken);
    ASSERT_TRUE(applied);
    EXPECT_FALSE(applied->command_id);
    EXPECT_EQ(code_of(applied->outcome), error_code::invalid_argument);
    EXPECT_EQ(registry.run(model_command("a")).code, 0u);
}

TEST(engine, refuses_a_command_of_another_log) {
    registry registry;
    auto envelope = registry.envelope_of(registry.admin, model_command("a"));
    envelope.log_id[0] = 8;
    const auto applied = registry.engine_of_log.apply(registry.record_of(envelope));
    ASSERT_TRUE(applied);
    EXPECT_EQ(code_of(applied->outcome), error_code::invalid_argument);
    EXPECT_EQ(registry.run(model_command("a")).code, 0u) << "the name must still be free";
}

TEST(engine, stops_at_a_command_of_an_unknown_type_at_a_level_in_force) {
    registry registry;
    auto envelope = registry.envelope_of(registry.admin, model_command("a"));
    envelope.type = static_cast<schemas::commands::command_type>(4711);
    EXPECT_FALSE(registry.engine_of_log.apply(registry.record_of(envelope)));
    EXPECT_EQ(registry.run(model_command("a")).code, 0u) << "the state is as it was before the record";
}

TEST(engine, passes_over_an_unknown_command_only_where_its_offset_and_bytes_are_named) {
    registry registry;
    auto envelope = registry.envelope_of(registry.admin, model_command("a"));
    envelope.type = static_cast<schemas::commands::command_type>(4711);
    const auto unknown = registry.record_of(envelope);
    const auto known = registry.record_of(registry.envelope_of(registry.admin, model_command("a")));
    registry.view();
    const auto offset = static_cast<std::uint64_t>(unknown.offset);
    const std::string hash(runtime::as_bytes(runtime::sha256(*unknown.value)));
    engine elsewhere(*registry.store, {{offset + 1, hash}, {offset, std::string(32, 'x')}});
    EXPECT_FALSE(elsewhere.apply(unknown));
    engine skipping(*registry.store, {{offset, hash}, {offset + 1, hash}});
    const std::string before = skipping.position().hash;
    ASSERT_TRUE(skipping.apply(unknown));
    EXPECT_NE(skipping.position().hash, before);
    const auto applied = skipping.apply(known);
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->outcome.code, 0u);
}

TEST(engine, refuses_a_command_that_arrives_after_its_not_after) {
    registry registry;
    auto envelope = registry.envelope_of(registry.admin, model_command("late"));
    registry.now_ms += limits::not_after_ms + 1;
    envelope.sender_clock_ms = registry.now_ms;
    const auto applied = registry.engine_of_log.apply(registry.record_of(envelope));
    ASSERT_TRUE(applied);
    EXPECT_EQ(code_of(applied->outcome), error_code::unavailable);
    EXPECT_EQ(registry.run(model_command("late")).code, 0u) << "the late command must have taken no effect";
}

TEST(engine, repeats_the_first_outcome_for_the_same_idempotency_key) {
    registry registry;
    registry.idempotency_key = "k";
    const auto first = registry.run(model_command("a"));
    const auto second = registry.run(model_command("a"));
    EXPECT_EQ(first.code, 0u);
    EXPECT_EQ(schemas::encode(first), schemas::encode(second));
    registry.idempotency_key.clear();
    EXPECT_EQ(code_of(registry.run(model_command("a"))), error_code::already_exists);
}

TEST(engine, repeats_a_refusal_too) {
    registry registry;
    registry.idempotency_key = "k";
    auto command = model_command("a");
    command.workspace_name = "nowhere";
    const auto first = registry.run(command);
    const auto second = registry.run(command);
    EXPECT_EQ(code_of(first), error_code::not_found);
    EXPECT_EQ(schemas::encode(first), schemas::encode(second));
}

TEST(engine, refuses_another_request_under_the_same_idempotency_key) {
    registry registry;
    registry.idempotency_key = "k";
    registry.run(model_command("a"));
    registry.fingerprint = "another";
    const auto outcome = registry.run(model_command("b"));
    EXPECT_EQ(code_of(outcome), error_code::already_exists);
    EXPECT_THAT(outcome.message, HasSubstr("Idempotency-Key \"k\""));
}

TEST(engine, forgets_outcomes_after_a_day_of_log_time) {
    registry registry;
    registry.idempotency_key = "k";
    registry.run(model_command("a"));
    registry.now_ms += limits::outcome_kept_ms - 1;
    EXPECT_EQ(registry.run(model_command("a")).code, 0u) << "within 24 h the repeat gets the first outcome";
    registry.now_ms += 2 * 3'600'000;
    registry.idempotency_key = "other";
    registry.run(schemas::commands::no_operation{});  // its time fires the sweep
    registry.idempotency_key = "k";
    EXPECT_EQ(code_of(registry.run(model_command("a"))), error_code::already_exists)
        << "the key is free again";
}

TEST(engine, takes_no_new_key_when_the_outcomes_that_it_keeps_have_too_many_bytes) {
    registry registry;
    const std::string counter = key_of(table::counter).text("bytes of outcomes kept");
    const auto kept = [&] { return find_number(*registry.view(), counter).value_or(0); };
    registry.idempotency_key = "k";
    const auto first = registry.run(model_command("a"));
    EXPECT_GE(kept(), schemas::encode(first).size());
    const std::uint64_t of_one = kept();
    row_changes full;
    std::string number;
    schemas::append_varint(number, limits::outcome_bytes_max);
    full[counter] = number;
    ASSERT_TRUE(registry.store->write(full));
    engine again(*registry.store);
    registry.idempotency_key = "another";
    const auto refused =
        again.apply(registry.record_of(registry.envelope_of(registry.admin, model_command("b"))));
    ASSERT_TRUE(refused);
    EXPECT_EQ(code_of(refused->outcome), error_code::resource_exhausted);
    registry.idempotency_key = "k";
    const auto repeat =
        again.apply(registry.record_of(registry.envelope_of(registry.admin, model_command("a"))));
    EXPECT_EQ(schemas::encode(repeat->outcome), schemas::encode(first)) << "a repeat is still answered";
    registry.now_ms += limits::outcome_kept_ms + 2 * 3'600'000;
    registry.idempotency_key.clear();
    ASSERT_TRUE(again.apply(registry.record_of(registry.envelope_of(registry.admin, model_command("c")))));
    ASSERT_TRUE(again.write());
    EXPECT_EQ(find_number(*registry.store->view(), counter), limits::outcome_bytes_max - of_one);
}

TEST(engine, takes_no_command_of_a_revoked_key) {
    registry registry;
    auto envelope = registry.envelope_of(registry.admin, model_command("a"));
    envelope.request.credential_hash = "another";
    const auto applied = registry.engine_of_log.apply(registry.record_of(envelope));
    ASSERT_TRUE(applied);
    EXPECT_EQ(code_of(applied->outcome), error_code::unauthenticated);
}

TEST(engine, keeps_no_refusal_of_a_revoked_key) {
    registry registry;
    registry.idempotency_key = "k";
    auto envelope = registry.envelope_of(registry.admin, model_command("a"));
    envelope.request.credential_hash = "another";
    ASSERT_TRUE(registry.engine_of_log.apply(registry.record_of(envelope)));
    EXPECT_EQ(registry.run(model_command("a")).code, 0u) << "the same request with a valid key";
    const auto again = registry.engine_of_log.apply(registry.record_of(envelope));
    EXPECT_EQ(code_of(again->outcome), error_code::unauthenticated)
        << "what was answered to a valid key is not shown to another";
}

TEST(engine, refuses_a_genesis_without_event_partitions) {
    const auto store = make_memory_state();
    engine empty(*store);
    schemas::commands::command_envelope envelope;
    envelope.type = schemas::commands::genesis::type;
    const auto applied = empty.apply({0, 0, "", schemas::commands::seal_envelope(envelope)});
    ASSERT_TRUE(applied);
    EXPECT_EQ(code_of(applied->outcome), error_code::invalid_argument);
    EXPECT_FALSE(empty.installation());
}

TEST(engine, keeps_log_time_monotonic_and_near_the_senders_clock) {
    EXPECT_EQ(log_time_ms(100, 50, 60), 100);
    EXPECT_EQ(log_time_ms(100, 500, 450), 500);
    EXPECT_EQ(log_time_ms(100, 500, INT64_MAX), 500);
    EXPECT_EQ(log_time_ms(100, INT64_MAX, INT64_MAX), limits::log_time_ms_max);
    EXPECT_EQ(log_time_ms(100, INT64_MIN, INT64_MIN), 100);
    EXPECT_EQ(log_time_ms(100, 10'000'000, 1'000), 1'000 + limits::sender_clock_ahead_ms_max);
}

TEST(engine, gives_the_same_rows_and_hash_however_the_log_is_cut_into_batches) {
    std::vector<events::log::record> log;
    std::string hash;
    {
        registry registry;
        registry.idempotency_key = "k";
        log.push_back(registry.record_of(registry.envelope_of(registry.admin, model_command("a"))));
        registry.idempotency_key.clear();
        log.push_back(registry.record_of(registry.envelope_of(registry.admin, model_command("a"))));
        log.push_back(registry.record_of(registry.envelope_of(registry.admin, model_command("b"))));
        for (const auto& record : log) ASSERT_TRUE(registry.engine_of_log.apply(record));
        hash = registry.engine_of_log.position().hash;
    }
    registry registry;
    for (const auto& record : log) {
        ASSERT_TRUE(registry.engine_of_log.apply(record));
        ASSERT_TRUE(registry.engine_of_log.write());
        engine reopened(*registry.store);
        EXPECT_EQ(reopened.position().hash, registry.engine_of_log.position().hash);
    }
    EXPECT_EQ(registry.engine_of_log.position().hash, hash);
}

TEST(engine, changes_its_hash_with_every_mutation) {
    registry one;
    registry other;
    one.run(model_command("a"));
    other.run(model_command("b"));
    EXPECT_NE(one.engine_of_log.position().hash, other.engine_of_log.position().hash);
}

TEST(engine, survives_bodies_of_any_bytes) {
    registry registry;
    for (unsigned type = 1; type < 64; ++type) {
        for (const std::string_view body :
             {"", "\xff", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x06\x01 "}) {
            auto envelope = registry.envelope_of(registry.admin, schemas::commands::no_operation{});
            envelope.type = static_cast<schemas::commands::command_type>(type);
            envelope.body = body;
            registry.engine_of_log.apply(registry.record_of(envelope)).has_value();
        }
    }
    EXPECT_EQ(registry.run(model_command("still works")).code, 0u);
}

TEST(claims, are_won_once_and_lapse_ten_seconds_after_the_holders_last_heartbeat) {
    registry registry;
    const auto beat = [&](const std::string& node) {
        schemas::commands::node_heartbeat heartbeat;
        heartbeat.node = node;
        heartbeat.first = true;
        heartbeat.boot[0] = static_cast<std::uint8_t>(node.front());
        EXPECT_EQ(registry.run(heartbeat).code, 0u);
    };
    const auto claim = [&](const std::string& node) {
        schemas::commands::claim command;
        command.job = "publisher";
        command.node = node;
        command.boot[0] = static_cast<std::uint8_t>(node.front());
        return registry.must<schemas::claim_row>(command);
    };
    beat("a");
    beat("b");
    const auto won = claim("a");
    EXPECT_EQ(won.node, "a");
    EXPECT_EQ(claim("b").node, "a");
    registry.now_ms += limits::claim_lapse_ms + 1;
    beat("b");
    const auto taken = claim("b");
    EXPECT_EQ(taken.node, "b");
    EXPECT_GT(taken.token, won.token);
}

TEST(nodes, that_are_silent_for_a_day_are_forgotten) {
    registry registry;
    const auto beat = [&](const std::string& name) {
        schemas::commands::node_heartbeat heartbeat;
        heartbeat.node = name;
        heartbeat.boot[0] = 1;
        heartbeat.first = true;
        EXPECT_EQ(registry.run(heartbeat).code, 0u);
    };
    const auto names = [&] {
        std::vector<std::string> found;
        nodes::each(*registry.view(), [&](const schemas::node_row& row) {
            found.push_back(row.node);
            return true;
        });
        return found;
    };
    beat("gone");
    beat("here");
    registry.now_ms += limits::node_row_kept_ms - 1'000;
    beat("here");
    EXPECT_EQ(names(), (std::vector<std::string>{"gone", "here"}));
    registry.now_ms += 1'000;
    beat("here");
    EXPECT_EQ(names(), (std::vector<std::string>{"here"}));
    registry.now_ms += limits::node_row_kept_ms - 1;
    beat("new");
    EXPECT_EQ(names(), (std::vector<std::string>{"here", "new"}));
    registry.now_ms += 1;
    beat("new");
    EXPECT_EQ(names(), (std::vector<std::string>{"new"}));
}

TEST(claims, are_not_taken_by_who_is_silent_too_when_log_time_leaps) {
    registry registry;
    const auto beat = [&](const std::string& node, std::uint8_t boot) {
        schemas::commands::node_heartbeat heartbeat;
        heartbeat.node = node;
        heartbeat.first = true;
        heartbeat.boot[0] = boot;
        heartbeat.applied_offset = registry.offset;
        EXPECT_EQ(registry.run(heartbeat).code, 0u);
    };
    const auto holder_after_claim = [&](const std::string& node, std::uint8_t boot) {
        schemas::commands::claim command;
        command.job = "publisher";
        command.node = node;
        command.boot[0] = boot;
        return registry.must<schemas::claim_row>(command).node;
    };
    beat("a", 1);
    beat("b", 1);
    EXPECT_EQ(holder_after_claim("a", 1), "a");
    registry.now_ms += 3 * limits::claim_lapse_ms;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(holder_after_claim("b", 1), "a");
        EXPECT_EQ(holder_after_claim("a", 1), "a");
    }
    beat("b", 2);  // started again
    EXPECT_EQ(holder_after_claim("b", 2), "b");
    EXPECT_EQ(holder_after_claim("a", 1), "b");
}

TEST(claims, refuse_the_older_of_two_processes_of_one_node) {
    registry registry;
    schemas::commands::node_heartbeat older;
    older.node = "a";
    older.boot[0] = 1;
    older.first = true;
    schemas::commands::node_heartbeat newer = older;
    newer.boot[0] = 2;
    newer.applied_offset = registry.run(older).offset;
    EXPECT_EQ(registry.run(newer).code, 0u);
    older.first = false;
    EXPECT_EQ(code_of(registry.run(older)), error_code::aborted);
}

TEST(claims, only_the_process_that_holds_one_lets_it_go) {
    registry registry;
    schemas::commands::node_heartbeat beat;
    beat.first = true;
    beat.boot[0] = 1;
    for (const char* node : {"a", "b"}) {
        beat.node = node;
        EXPECT_EQ(registry.run(beat).code, 0u);
    }
    const auto held = registry.must<schemas::claim_row>(schemas::commands::claim{"builder", "a", beat.boot});
    const auto holder = [&] { return claims::find(*registry.view(), "builder"); };
    schemas::commands::claim go{"builder", "b", beat.boot, true};
    EXPECT_EQ(registry.run(go).code, 0u);
    ASSERT_TRUE(holder());
    EXPECT_EQ(holder()->token, held.token);
    go.node = "a";
    EXPECT_EQ(registry.run(go).code, 0u);
    EXPECT_FALSE(holder());
    EXPECT_EQ(registry.run(go).code, 0u) << "twice is as good as once";
    const auto next = registry.must<schemas::claim_row>(schemas::commands::claim{"builder", "b", beat.boot});
    EXPECT_EQ(next.node, "b");
    EXPECT_GT(next.token, held.token);
}

TEST(claims, a_dead_process_s_records_that_surface_late_take_nothing_from_the_living) {
    registry registry;
    schemas::commands::node_heartbeat dead;
    dead.node = "a";
    dead.boot[0] = 1;
    dead.first = true;
    dead.applied_offset = registry.run(schemas::commands::no_operation{}).offset;
    schemas::commands::node_heartbeat living = dead;
    living.boot[0] = 2;
    const std::uint64_t begun = registry.run(living).offset;
    const auto held =
        registry.must<schemas::claim_row>(schemas::commands::claim{"publisher", "a", living.boot});
    EXPECT_EQ(code_of(registry.run(dead)), error_code::failed_precondition);
    EXPECT_EQ(code_of(registry.run(schemas::commands::claim{"publisher", "a", dead.boot})),
              error_code::aborted);
    living.first = false;
    EXPECT_EQ(registry.run(living).code, 0u);
    EXPECT_EQ(
        registry.must<schemas::claim_row>(schemas::commands::claim{"publisher", "a", living.boot}).token,
        held.token);
    // A living process has applied the other's first heartbeat by the time it speaks again.
    dead.applied_offset = begun;
    EXPECT_EQ(registry.run(dead).code, 0u);
}

}  // namespace
}  // namespace herald::test
