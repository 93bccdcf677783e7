// Every command there is. What depends on the kind of a command (its rule, who may send it, its name, whether
// it passes a full disk) follows from these lists; nothing else enumerates them.
//
// A new command: its struct in the file of its resource and its name in the list there, its rule in
// storage/registry/rules/. A new file of commands: its list here, and in rules.hpp there. In a log that has
// begun it is of the next level (level.hpp).
#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "schemas/binary.hpp"
#include "schemas/commands/artifacts.hpp"
#include "schemas/commands/builds.hpp"
#include "schemas/commands/deliveries.hpp"
#include "schemas/commands/endpoints.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/commands/installation.hpp"
#include "schemas/commands/models.hpp"
#include "schemas/commands/nodes.hpp"
#include "schemas/commands/organizations.hpp"
#include "schemas/commands/policies.hpp"
#include "schemas/commands/restoring.hpp"
#include "schemas/commands/scans.hpp"
#include "schemas/commands/serving.hpp"
#include "schemas/commands/stages.hpp"
#include "schemas/commands/versions.hpp"
#include "schemas/commands/webhooks.hpp"

namespace herald::schemas::commands {

template <class... Lists>
struct command_lists {};

/// The lists of all files of commands.
using all_lists =
    command_lists<installation_commands, level_commands, node_commands, user_commands, key_commands,
                  service_account_commands, organization_commands, group_commands, role_commands,
                  workspace_commands, model_commands, version_commands, stage_commands, policy_commands,
                  build_commands, scan_commands, webhook_commands, delivery_commands, artifact_commands,
                  restoring_commands, endpoint_commands, endpoint_stage_commands, access_token_commands,
                  endpoint_update_commands, serving_commands, build_ending_commands>;

/// What is known about a command without its struct.
struct listed_command {
    command_type type;
    std::string_view name;
    command_traits traits;
};

/// By number.
std::span<const listed_command> command_table() noexcept;
/// nullptr for a type unknown to this program.
const listed_command* find_command(command_type) noexcept;

namespace listing {

template <class... Some, class... More, class... Lists>
constexpr auto joined(command_list<Some...>, command_list<More...>, Lists... lists) {
    if constexpr (sizeof...(Lists) == 0)
        return command_list<Some..., More...>{};
    else
        return joined(command_list<Some..., More...>{}, lists...);
}

template <class... Lists>
constexpr auto joined(command_lists<Lists...>) {
    return joined(Lists{}...);
}

template <class Command, class List>
inline constexpr bool is_listed = false;
template <class Command, class... Commands>
inline constexpr bool is_listed<Command, command_list<Commands...>> =
    (std::same_as<Command, Commands> || ...);

}  // namespace listing

using all_commands = decltype(commands::listing::joined(all_lists{}));

/// A command of the list: only these can be sent (make_envelope, command_gateway).
template <class Command>
concept any_command = described<Command> && commands::listing::is_listed<Command, all_commands>;

/// With level, type and body; the sender fills in the rest.
template <any_command Command>
command_envelope make_envelope(const Command& command) {
    command_envelope envelope;
    envelope.level = traits_of<Command>().level;
    envelope.type = Command::type;
    envelope.body = encode(command);
    return envelope;
}

}  // namespace herald::schemas::commands
