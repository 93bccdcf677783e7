// Protects the audit: each command of a principal leaves one row, chained to the one before, and strangers
// leave none.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "schemas/audit.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/audit/limits.hpp"
#include "storage/registry/audit/subject.hpp"
#include "storage/registry/tables/audit.hpp"
#include "tests/support/filled.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using schemas::audit_row;
using storage::registry::tables::audit_rows;

class audit : public testing::Test {
  protected:
    registry registry;

    std::vector<audit_row> rows() {
        std::vector<audit_row> all;
        const auto state = registry.view();
        audit_rows::each(*state, audit_rows::head(*state).first, [&](const audit_row& row) {
            all.push_back(row);
            return true;
        });
        return all;
    }
    /// "action type id workspace code" of the newest row.
    std::string newest() {
        const auto all = rows();
        if (all.empty()) return "none";
        const audit_row& row = all.back();
        return row.action + " " + row.resource_type + " " + row.resource_id + " in " +
               std::to_string(row.workspace_id.value) + " by " + std::to_string(row.user_id.value) + ": " +
               std::to_string(row.code);
    }
    schemas::commands::outcome run_from(const std::string& address,
                                        const schemas::commands::create_model& command) {
        auto envelope = registry.envelope_of(registry.admin, command);
        envelope.request.address = address;
        return registry.engine_of_log.apply(registry.record_of(envelope))->outcome;
    }
};

TEST_F(audit, says_who_did_what_on_what_and_how_it_ended) {
    const auto model = registry.model_named("m");
    EXPECT_EQ(newest(), "create_model REGISTERED_MODEL 1 in 1 by 1: 0");
    const auto version = registry.version_named("v", model.id);
    EXPECT_EQ(newest(), "create_version REGISTERED_MODEL_VERSION 1 in 1 by 1: 0");
    schemas::commands::update_version update;
    update.workspace_name = "default";
    update.model_name = "m";
    update.version_or_name = "v";
    EXPECT_EQ(registry.run(update).code, 0u);
    EXPECT_EQ(newest(), "update_version REGISTERED_MODEL_VERSION 1 in 1 by 1: 0") << "named by names";
    const auto stranger = registry.user_named("s@example.org").id;
    EXPECT_EQ(newest(), "create_user USER 2 in 0 by 1: 0");
    registry.run_as(stranger, schemas::commands::create_transition{version.id, schemas::stage::staging, ""});
    EXPECT_EQ(newest(), "create_transition REGISTERED_MODEL_VERSION 1 in 1 by 2: 5") << "refused";
    const auto asked = registry.must<schemas::activity>(
        schemas::commands::create_transition{version.id, schemas::stage::staging, ""});
    registry.run(schemas::commands::close_transition{asked.id, ""});
    EXPECT_EQ(newest(), "close_transition REGISTERED_MODEL_VERSION 1 in 1 by 1: 0");
    const auto hook = registry.webhook_for({schemas::event_type::promote});
    EXPECT_EQ(newest(), "create_webhook WEBHOOK 1 in 1 by 1: 0");
    schemas::commands::delete_webhooks remove;
    remove.ids = {hook.id};
    registry.run(remove);
    EXPECT_EQ(newest(), "delete_webhooks WEBHOOK 1 in 1 by 1: 0")
        << "its workspace is known though it is gone";
    registry.run(schemas::commands::set_feature_flag{"scan_events", false, ""});
    EXPECT_EQ(newest(), "set_feature_flag FEATURE_FLAG scan_events in 0 by 1: 0");
}

TEST_F(audit, has_the_names_of_who_did_it_of_what_and_where_as_they_were_then) {
    using namespace schemas::commands;
    /// "who: name in workspace" of the newest row.
    const auto names = [&] {
        const audit_row row = rows().back();
        return row.user_name + ": " + row.resource_name + " in " + row.workspace_name;
    };
    const std::string me = rows().empty() ? std::string(admin_email) : rows().back().user_name;
    const auto model = registry.model_named("churn");
    EXPECT_EQ(names(), me + ": churn in default");
    update_model renaming;
    renaming.id = model.id;
    renaming.model.name = "leavers";
    renaming.present = {"name"};
    ASSERT_EQ(registry.run(renaming).code, 0u);
    EXPECT_EQ(names(), me + ": churn in default") << "as it was called before";
    const auto version = registry.version_named("v7", model.id);
    EXPECT_EQ(names(), me + ": v7 in default");
    registry.run(update_stage{version.id, schemas::stage::staging, ""});
    EXPECT_EQ(names(), me + ": v7 in default");
    delete_model removal;
    removal.id = model.id;
    ASSERT_EQ(registry.run(removal).code, 0u);
    EXPECT_EQ(names(), me + ": leavers in default") << "though it is gone";
    const auto stranger = registry.user_named("s@example.org");
    EXPECT_EQ(names(), me + ": s@example.org in ");
    create_model refused;
    refused.workspace_name = "default";
    refused.model.name = "x";
    EXPECT_NE(registry.run_as(stranger.id, refused).code, 0u);
    EXPECT_EQ(names(), "s@example.org:  in default") << "nothing was made";
    const auto hook = registry.webhook_for({schemas::event_type::promote});
    EXPECT_EQ(names(), me + ": " + hook.settings.name + " in default");
    create_endpoint endpoint;
    endpoint.id[0] = 7;
    endpoint.workspace_name = "default";
    endpoint.path = "churn";
    ASSERT_EQ(registry.run(endpoint).code, 0u);
    EXPECT_EQ(names(), me + ": /churn in default");
    remove_user leaving;
    leaving.user_id = stranger.id;
    ASSERT_EQ(registry.run(leaving).code, 0u);
    EXPECT_EQ(names(), me + ": s@example.org in ");
}

TEST_F(audit, says_on_whom_and_which_way) {
    using namespace schemas::commands;
    const auto user = registry.user_named("b@example.org");
    const std::string id = std::to_string(user.id.value);
    registry.run(set_system_admin{"b@example.org", true});
    EXPECT_EQ(newest(), "set_system_admin is_admin=true USER " + id + " in 0 by 1: 0");
    registry.run(set_system_admin{"b@example.org", false});
    EXPECT_EQ(newest(), "set_system_admin is_admin=false USER " + id + " in 0 by 1: 0");
    registry.run_as(user.id, add_key{{}, "k1", std::string(32, 'k')});
    EXPECT_EQ(newest(), "add_key USER " + id + " in 0 by " + id + ": 0");
    registry.run_as(user.id, remove_key{{}, true});
    EXPECT_EQ(newest(), "remove_key secondary=true USER " + id + " in 0 by " + id + ": 0");
    update_user moving;
    moving.default_workspace_id.value = 1;
    registry.run_as(user.id, moving);
    EXPECT_EQ(newest(), "update_user USER " + id + " in 0 by " + id + ": 5")
        << "nobody writes into the audit of a workspace that he does not see";
    create_service_account account;
    account.org_id.value = 1;
    account.email = "bot@example.org";
    account.key_name = "k1";
    account.key_hash = admin_key_hash();
    account.user_uuid = some_uuid;
    const auto bot = registry.must<schemas::user>(account);
    EXPECT_EQ(newest(), "create_service_account USER " + std::to_string(bot.id.value) + " in 0 by 1: 0");
    add_organization_user taking;
    taking.org_id.value = 1;
    taking.email = "b@example.org";
    registry.run(taking);
    EXPECT_EQ(newest(), "add_organization_user USER " + id + " in 0 by 1: 0");
}

TEST_F(audit, says_whose_policies_and_whose_stage_were_changed) {
    using namespace schemas::commands;
    set_policies policies;
    policies.workspace_name = "default";
    registry.run(policies);
    EXPECT_THAT(newest(), testing::StartsWith("set_policies WORKSPACE 1 in 1 by 1: "));
    update_stage moving;
    moving.model_version_id = registry.version_named("v", registry.model_named("m").id).id;
    registry.run(moving);
    EXPECT_THAT(newest(), testing::StartsWith("update_stage REGISTERED_MODEL_VERSION 1 in 1 by 1: "));
    registry.run(close_transition{schemas::activity_id{77}, ""});
    EXPECT_EQ(newest(), "close_transition TRANSITION 77 in 0 by 1: 5");
}

TEST_F(audit, says_that_a_webhook_was_disabled_though_nobody_asked_for_it) {
    using namespace schemas::commands;
    create_webhook creation;
    creation.workspace_id.value = 1;
    creation.settings.name = "hook";
    creation.settings.location = "https://example.org/hook";
    creation.settings.all_events = true;
    const auto hook = registry.must<schemas::webhook>(creation);
    claim job;
    job.job = "webhook-health";
    job.node = "a";
    webhook_health told;
    told.webhook_id = hook.id;
    told.revision = hook.revision;
    told.condition = webhook_condition::gone;
    told.token = registry.must<schemas::claim_row>(job).token;
    registry.run(told);
    EXPECT_EQ(newest(), "disable_webhook WEBHOOK 1 in 1 by 0: 0");
}

TEST_F(audit, says_on_whom_where_there_are_several) {
    using namespace schemas::commands;
    const auto one = registry.user_named("b@example.org").id, two = registry.user_named("c@example.org").id;
    add_group_users adding;
    adding.org_id.value = adding.group_id.value = 1;
    adding.user_id = {one, two};
    registry.run(adding);
    EXPECT_THAT(newest(), testing::StartsWith("add_group_users user_id=" + std::to_string(one.value) + "," +
                                              std::to_string(two.value) + " GROUP 1 in 0 by 1: "));
    delete_webhooks removing;
    removing.ids = {{7}, {8}};
    registry.run(removing);
    EXPECT_THAT(newest(), testing::StartsWith("delete_webhooks ids=7,8 WEBHOOK 7 in 0 by 1: "));
    for (std::uint64_t id = 1'000; id < 1'100; ++id) removing.ids.push_back({id});
    registry.run(removing);
    EXPECT_THAT(rows().back().action,
                testing::MatchesRegex("delete_webhooks ids=7,8,1000,1001,[0-9,]+,10[0-9]+\\+[0-9]+"))
        << "and how many more";
    EXPECT_LE(rows().back().action.size(), limits::audit_action_bytes_max);
    EXPECT_LE(schemas::encode(rows().back()).size(), limits::audit_row_bytes_max);
}

/// Each command that leaves a row, with every member set, and what the row says that it is about.
template <class... Commands>
std::string subjects(test::registry& registry, schemas::commands::command_list<Commands...>) {
    std::string text;
    const auto tell = [&]<class Command>(const Command& command) {
        const auto& traits = schemas::commands::find_command(Command::type)->traits;
        if (traits.from == schemas::commands::sender::node) return;
        const auto about = storage::registry::audit::subject_of(
            *registry.view(), registry.envelope_of(registry.admin, command));
        text += std::string(schemas::commands::find_command(Command::type)->name) + ": ";
        if (!about.direction.empty()) text += about.direction + " ";
        text += about.type + " " + about.id + (about.is_in_answer ? ", in the answer" : "") + "\n";
    };
    (tell(filled<Commands>()), ...);
    return text;
}

TEST_F(audit, has_something_to_say_of_what_each_command_is_about) {
    // Of these there is one in the installation, or none.
    const std::set<std::string> about_the_installation{"genesis", "restore_rows", "end_restore",
                                                       "set_webhooks_by", "resume_deliveries"};
    const std::string all = subjects(registry, schemas::commands::all_commands{});
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);) {
        if (about_the_installation.contains(line.substr(0, line.find(':')))) continue;
        EXPECT_THAT(line, testing::AnyOf(testing::ContainsRegex(": .*[A-Z_]+ [a-z_0-9-]+$"),
                                         testing::ContainsRegex(": .*[A-Z_]+ .*in the answer$")))
            << "say what the command is about (storage/registry/audit/subject.cpp), or that it is about the "
               "installation as a whole";
    }
}

TEST_F(audit, says_which_workspace_came_and_went_and_whose_version_was_changed) {
    using namespace schemas::commands;
    set_workspace making;
    making.org_id.value = 1;
    making.name = "shared";
    const auto made = registry.must<schemas::workspace>(making).id;
    const std::string id = std::to_string(made.value);
    EXPECT_EQ(newest(), "set_workspace WORKSPACE " + id + " in " + id + " by 1: 0");
    registry.run(delete_workspace{schemas::organization_id{1}, made});
    EXPECT_EQ(newest(), "delete_workspace WORKSPACE " + id + " in " + id + " by 1: 0");
    update_version_members update;
    update.update.id = registry.version_named("v", registry.model_named("m").id).id;
    registry.run(update);
    EXPECT_THAT(newest(),
                testing::StartsWith("update_version_members REGISTERED_MODEL_VERSION 1 in 1 by 1: "));
}

TEST_F(audit, has_no_row_of_nodes_of_strangers_of_repeats_and_of_commands_that_came_too_late) {
    registry.model_named("m");
    const std::size_t before = rows().size();
    registry.run_as({}, schemas::commands::no_operation{});
    auto stranger =
        registry.envelope_of(registry.admin, schemas::commands::set_feature_flag{"scan_events", true, ""});
    stranger.request.credential_hash = "another key's";
    EXPECT_NE(registry.engine_of_log.apply(registry.record_of(stranger))->outcome.code, 0u);
    auto late =
        registry.envelope_of(registry.admin, schemas::commands::set_feature_flag{"scan_events", true, ""});
    late.not_after_ms = registry.now_ms - 1;
    EXPECT_NE(registry.engine_of_log.apply(registry.record_of(late))->outcome.code, 0u);
    EXPECT_EQ(rows().size(), before);
    registry.idempotency_key = "key";
    registry.run(schemas::commands::set_feature_flag{"scan_events", true, ""});
    registry.run(schemas::commands::set_feature_flag{"scan_events", true, ""});
    EXPECT_EQ(rows().size(), before + 1) << "a repeat";
    registry.fingerprint = "another";
    EXPECT_NE(registry.run(schemas::commands::set_feature_flag{"scan_events", true, ""}).code, 0u);
    EXPECT_EQ(rows().size(), before + 2) << "another request under the same key";
}

TEST_F(audit, has_no_row_of_the_pieces_of_a_restore) {
    registry.model_named("m");
    const std::size_t before = rows().size();
    registry.run(schemas::commands::restore_rows{});
    EXPECT_EQ(rows().size(), before) << "it would come between those that are restored";
}

TEST_F(audit, is_a_chain_in_which_each_row_depends_on_all_before) {
    for (int i = 0; i < 5; ++i) registry.model_named("m" + std::to_string(i));
    std::string hash;
    std::uint64_t sequence = 0;
    for (const audit_row& row : rows()) {
        EXPECT_EQ(row.sequence, ++sequence);
        hash = schemas::hash_of(hash, row);
        EXPECT_EQ(row.hash.bytes, hash) << row.sequence;
    }
    EXPECT_EQ(audit_rows::head(*registry.view()).hash.bytes, hash);
    EXPECT_EQ(audit_rows::head(*registry.view()).last, sequence);
    audit_row changed = rows()[1];
    changed.address += "1";
    EXPECT_NE(schemas::hash_of(rows()[0].hash.bytes, changed), changed.hash.bytes);
}

TEST_F(audit, keeps_rows_short_whatever_is_sent) {
    schemas::commands::set_feature_flag command;
    for (int i = 0; i < 200; ++i) command.name += "\u00fc";
    registry.run(command);
    const audit_row row = rows().back();
    EXPECT_EQ(row.resource_id.size(), limits::audit_text_bytes_max);
    EXPECT_LE(schemas::encode(row).size(), limits::audit_row_bytes_max);
    command.name = "\xff";
    registry.run(command);
    EXPECT_EQ(rows().back().resource_id, "") << "no UTF-8: it could not be exported";
    schemas::commands::create_model model;
    model.workspace_name = "default";
    model.model.name = "m";
    run_from(std::string(1'000, 'a'), model);
    EXPECT_EQ(rows().back().address.size(), limits::audit_word_bytes_max);
    run_from("10.0.0.1:\n7", model);
    EXPECT_EQ(rows().back().address, "10.0.0.1:?7");
}

TEST_F(audit, drops_rows_after_four_hundred_days_and_remembers_where_they_ended) {
    constexpr std::int64_t day_ms = 24ll * 3'600'000;
    for (int i = 0; i < 700; ++i) registry.run(schemas::commands::set_feature_flag{"scan_events", true, ""});
    const std::string hash = rows().back().hash.bytes;
    registry.now_ms += 399 * day_ms;
    registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(rows().size(), 700u);
    registry.model_named("new");
    registry.now_ms += 2 * day_ms;
    for (int i = 0; i < 3; ++i) registry.run(schemas::commands::no_operation{});
    ASSERT_EQ(rows().size(), 1u);
    EXPECT_EQ(audit_rows::head(*registry.view()).before.bytes, hash);
    EXPECT_EQ(rows().front().sequence, 701u);
    EXPECT_EQ(schemas::hash_of(hash, rows().front()), rows().front().hash.bytes);
    registry.now_ms += 399 * day_ms;
    for (int i = 0; i < 3; ++i) registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(rows().size(), 0u);
    registry.model_named("newer");
    registry.now_ms += 401 * day_ms;
    registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(rows().size(), 0u) << "a timer was set with the first row after none";
}

}  // namespace
}  // namespace herald::test
