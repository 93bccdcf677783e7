// Finds the endpoints and stages that paths name.
#pragma once

#include "api/calls/call.hpp"
#include "schemas/commands/endpoints.hpp"
#include "storage/registry/access/endpoints.hpp"

namespace herald::api::deployment {

/// The segment `{endpoint}`. Errors: not_found, as for any unknown id.
result<schemas::uuid> endpoint_in_path(const calls::reading_call&);

/// The endpoint, or the stage, that the path names. Errors: not_found, also when the caller may not read it.
result<storage::registry::access::placed<schemas::endpoint>> endpoint_to_show(const calls::reading_call&);
result<storage::registry::access::placed_stage> stage_to_show(const calls::reading_call&);

/// Fills in the members that all commands about an endpoint have. Errors: as endpoint_in_path.
template <class Command>
result<Command> command_on_endpoint(const calls::writing_call& call, Command command = {}) {
    const auto id = endpoint_in_path(call);
    if (!id) return id.error();
    if constexpr (requires { command.endpoint_id; })
        command.endpoint_id = *id;
    else
        command.id = *id;
    command.workspace_name = call.path("workspace");
    return command;
}
/// And about a stage.
template <class Command>
result<Command> command_on_stage(const calls::writing_call& call, Command begun = {}) {
    const auto stage = call.template path_id<schemas::endpoint_stage_id>("stage");
    if (!stage) return stage.error();
    auto command = command_on_endpoint<Command>(call, std::move(begun));
    if (command) command->stage_id = *stage;
    return command;
}

/// A token's value sealed for the log.
schemas::commands::new_access_token sealed_token(const calls::services&, const std::string& value);
/// A value that cannot be guessed.
result<std::string> minted_token(const calls::services&);

}  // namespace herald::api::deployment
