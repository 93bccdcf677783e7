// The rules of the registry: one function `apply` for each command, each a pure step on the state (design.md
// §1).
//
// A rule checks everything before it changes anything that outlives a refusal: on an error the engine drops
// all of the command's changes. The value is outcome.body: the binary form of the answer named in
// schemas/commands/. Each rule names the errors it can return; `unauthenticated` is the engine's. An error's
// text is kept with the outcome: to change it is to change the rule (schemas/commands/level.hpp).
#pragma once

#include "schemas/commands/all.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

using context::rule_context;
using context::timer_kind;
using schemas::action;
using schemas::protected_type;
using state::state_changes;
using state::state_view;

using answer = result<std::string>;

/// Reads a command and applies its rule. Errors: invalid_argument for bytes that are not the command, and for
/// an enumeration with a number that has no name; those of the rule.
using runner = answer (*)(rule_context&, std::string_view body);

// One for each list of commands: nullptr for a type that is not in it.
runner runner_of(schemas::commands::command_type,
                 schemas::commands::installation_commands);                            // installation.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::level_commands);  // nodes.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::node_commands);   // nodes.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::user_commands);   // users.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::key_commands);    // keys.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::service_account_commands);  // service_accounts.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::organization_commands);                            // organizations.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::group_commands);  // groups.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::role_commands);   // roles.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::workspace_commands);  // workspaces.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::model_commands);      // models.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::version_commands);    // versions.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::stage_commands);      // stages.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::policy_commands);     // policies.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::build_commands);      // builds.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::scan_commands);       // scans.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::webhook_commands);    // webhooks.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::delivery_commands);   // deliveries.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::artifact_commands);   // artifacts.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::restoring_commands);  // restoring.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::endpoint_commands);   // endpoints.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::endpoint_stage_commands);  // endpoint_stages.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::access_token_commands);  // access_tokens.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::endpoint_update_commands);  // endpoint_updates.cpp
runner runner_of(schemas::commands::command_type, schemas::commands::serving_commands);  // serving.cpp
runner runner_of(schemas::commands::command_type,
                 schemas::commands::build_ending_commands);  // build_endings.cpp

template <class Command, class Rule>
answer run(rule_context& context, std::string_view body) {
    const auto command = schemas::decode<Command>(body);
    if (!command) return command.error();
    if (!schemas::has_only_named_values(*command))
        return runtime::invalid_argument("an enumeration of this command holds a number without a name");
    return Rule()(context, *command);
}

/// A file of rules ends with it. `rule` calls that file's apply(rule_context&, const Command&) for each of
/// the commands: one without does not compile.
template <class... Commands, class Rule>
runner find_runner(schemas::commands::command_type type, schemas::commands::command_list<Commands...>, Rule) {
    runner found = nullptr;
    ((type == Commands::type && (found = run<Commands, Rule>)) || ...);
    return found;
}

// Timers: `key` is what set_timer was given.
void fire_removal(rule_context&);                                      // removal.cpp
void fire_scan_deadline(rule_context&, std::string_view key);          // scans.cpp
void fire_outbox_trim(rule_context&, std::string_view key);            // nodes.cpp
void fire_node_silence(rule_context&, std::string_view key);           // nodes.cpp
void fire_webhook_change_trim(rule_context&, std::string_view key);    // webhooks.cpp
void fire_webhook_expiry(rule_context&, std::string_view key);         // webhooks.cpp
void fire_webhook_secret_end(rule_context&, std::string_view key);     // webhooks.cpp
void fire_webhook_disable_soon(rule_context&, std::string_view key);   // webhook_health.cpp
void fire_webhook_disable(rule_context&, std::string_view key);        // webhook_health.cpp
void fire_external_event_forget(rule_context&, std::string_view key);  // webhooks.cpp
void fire_replay_forget(rule_context&, std::string_view key);          // deliveries.cpp
void fire_artifact_sweep(rule_context&, std::string_view key);         // artifacts.cpp
void fire_blob_drop(rule_context&, std::string_view key);              // artifacts.cpp
void fire_multipart_expiry(rule_context&, std::string_view key);       // artifacts.cpp
void fire_promotion_deadline(rule_context&, std::string_view key);     // stage_changes.cpp
void fire_membership_sweep(rule_context&, std::string_view key);       // groups.cpp
void fire_workspace_sweep(rule_context&, std::string_view key);        // workspaces.cpp
void fire_session_end(rule_context&, std::string_view key);            // keys.cpp
void fire_access_token_end(rule_context&, std::string_view key);       // access_tokens.cpp
void fire_endpoint_stage_sweep(rule_context&, std::string_view key);   // endpoint_stages.cpp
void fire_endpoint_update_step(rule_context&, std::string_view key);   // serving.cpp
void fire_build_deadline(rule_context&, std::string_view key);         // build_endings.cpp
void fire_deployed_build_sweep(rule_context&, std::string_view key);   // endpoint_updates.cpp

}  // namespace herald::storage::registry::rules
