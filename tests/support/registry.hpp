// A registry for tests of the rules: the real engine over rows in memory, one command at a time.
#pragma once

#include <gtest/gtest.h>

#include "schemas/binary.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/support/commands.hpp"

namespace herald::test {

class registry {
  public:
    registry() { EXPECT_EQ(run(genesis()).code, 0u); }

    static schemas::commands::genesis genesis() {
        schemas::commands::genesis genesis;
        genesis.log_id[0] = 7;
        genesis.event_partitions = 4;
        genesis.level = schemas::commands::newest_level;
        genesis.organization_name = "default";
        genesis.admin_uuid = some_uuid;
        genesis.admin_email = admin_email;
        genesis.admin_key_hash = admin_key_hash();
        genesis.require_approval_for = {schemas::stage::production};
        return genesis;
    }

    schemas::user_id admin = test::admin;
    std::int64_t now_ms = 1'700'000'000'000;
    std::string idempotency_key;
    std::string fingerprint = "f";
    std::uint64_t offset = 0;

    /// Runs it as the administrator.
    template <class Command>
    schemas::commands::outcome run(const Command& command) {
        return run_as(admin, command);
    }

    template <class Command>
    schemas::commands::outcome run_as(schemas::user_id user, const Command& command) {
        const auto applied = engine_of_log.apply(record_of(envelope_of(user, command)));
        EXPECT_TRUE(applied) << applied.error().message;
        return applied ? applied->outcome : schemas::commands::outcome{};
    }

    template <class Command>
    schemas::commands::command_envelope envelope_of(schemas::user_id user, const Command& command) {
        schemas::commands::request_identity who = request_of(user);
        who.idempotency_key = idempotency_key;
        who.fingerprint = fingerprint;
        auto envelope = test::envelope_of(schemas::commands::make_envelope(command), now_ms, std::move(who));
        envelope.log_id[0] = 7;
        envelope.command_id[15] = static_cast<std::uint8_t>(offset);
        envelope.command_id[14] = static_cast<std::uint8_t>(offset >> 8);
        return envelope;
    }

    events::log::record record_of(const schemas::commands::command_envelope& envelope) {
        return {static_cast<std::int64_t>(offset++), now_ms, "", schemas::commands::seal_envelope(envelope)};
    }

    /// Applies a command that must succeed, and returns its answer.
    template <class Answer, class Command>
    Answer must(schemas::user_id user, const Command& command) {
        const schemas::commands::outcome outcome = run_as(user, command);
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
        const auto answer = schemas::decode<Answer>(outcome.body);
        EXPECT_TRUE(answer);
        return *answer;
    }
    template <class Answer, class Command>
    Answer must(const Command& command) {
        return must<Answer>(admin, command);
    }

    static schemas::commands::create_user user_command(const std::string& email) {
        schemas::commands::create_user command;
        command.email = email;
        command.key_name = "k1";
        command.key_hash = admin_key_hash();
        command.user_uuid = some_uuid;
        return command;
    }
    schemas::user user_named(const std::string& email) { return must<schemas::user>(user_command(email)); }
    /// A user in the built-in group Admins.
    schemas::user_id second_admin() {
        const schemas::user user = user_named("second@example.org");
        schemas::commands::add_group_users add;
        add.org_id.value = 1;
        add.group_id.value = 1;
        add.user_id = {user.id};
        must<schemas::group>(add);
        return user.id;
    }
    schemas::registered_model model_named(const std::string& name) {
        schemas::commands::create_model command;
        command.workspace_name = "default";
        command.model.name = name;
        return must<schemas::registered_model>(command);
    }
    schemas::model_version version_named(const std::string& name, schemas::model_id model) {
        schemas::commands::create_version command;
        command.registered_model_id = model;
        command.version.version = name;
        return must<schemas::model_version>(command);
    }
    /// In the user's own workspace, which nobody else sees.
    schemas::model_version own_version_of(const schemas::user& user) {
        schemas::commands::create_model model;
        model.workspace_name = user.username;
        model.model.name = "mine";
        schemas::commands::create_version command;
        command.registered_model_id = must<schemas::registered_model>(user.id, model).id;
        command.version.version = "v1";
        return must<schemas::model_version>(user.id, command);
    }
    schemas::webhook webhook_for(std::vector<schemas::event_type> types) {
        schemas::commands::create_webhook command;
        command.settings.name = "hook " + std::to_string(offset);
        command.settings.location = "https://example.org/hook";
        command.settings.event_types = std::move(types);
        return must<schemas::webhook>(command);
    }

    /// Writes a row that no command can write yet.
    template <class Row>
    void put(const std::string& key, const Row& row) {
        EXPECT_TRUE(engine_of_log.write());
        EXPECT_TRUE(store->write({{key, schemas::encode(row)}}));
        EXPECT_EQ(run(schemas::commands::no_operation{}).code,
                  0u);  // the engine's next batch builds on what is stored
        EXPECT_TRUE(engine_of_log.write());
    }

    /// Rows as they are after the newest command.
    std::shared_ptr<const storage::registry::state::state_view> view() {
        EXPECT_TRUE(engine_of_log.write());
        return store->view();
    }
    std::vector<schemas::event> outbox() {
        std::vector<schemas::event> events;
        const std::string all = storage::registry::tables::key_of(storage::registry::tables::table::outbox);
        view()->scan(all, {}, [&](std::string_view key, std::string_view value) {
            events.push_back(storage::registry::tables::decode_row<schemas::event>(key, value));
            return true;
        });
        return events;
    }

    std::unique_ptr<storage::registry::state::state_store> store =
        storage::registry::state::make_memory_state();
    storage::registry::engine::engine engine_of_log{*store};
};

inline error_code code_of(const schemas::commands::outcome& outcome) {
    return static_cast<error_code>(outcome.code);
}

}  // namespace herald::test
