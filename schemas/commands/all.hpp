// Every command. Whatever depends on the kind of a command (its rule, who may send it, its name, whether it
// passes a full disk) follows from this list; nothing else enumerates them.
//
// A new command: its struct in the file of its resource, its line here, its rule in storage/registry/rules/.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>

#include "schemas/binary.hpp"
#include "schemas/commands/builds.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/commands/installation.hpp"
#include "schemas/commands/models.hpp"
#include "schemas/commands/nodes.hpp"
#include "schemas/commands/scans.hpp"
#include "schemas/commands/stages.hpp"
#include "schemas/commands/versions.hpp"
#include "schemas/commands/webhooks.hpp"

namespace herald::schemas::commands {

template <class... Commands>
struct command_list {};

/// By number.
using all_commands = command_list<  //
    genesis, no_operation, node_heartbeat, claim, raise_level,
    // identity
    create_user, add_group_users,
    // the registry
    create_model, create_version, update_version,
    // stages
    create_transition, review_transition, close_transition, commit_transition, fail_promotion,
    // builds and scans
    create_build, request_scan, report_scan, request_version_scan,
    // webhooks
    create_webhook, delete_webhooks, webhook_health,
    // what operators set
    set_feature_flag, renew_admin_key>;

/// What is known about a command without its struct.
struct listed_command {
    command_type type;
    std::string_view name;
    command_traits traits;
};

namespace listing {

/// "create_model" for create_model.
template <class Command>
consteval std::string_view name_of_struct() {
    constexpr std::string_view name = __PRETTY_FUNCTION__;  // "… [Command = herald::schemas::create_model]"
    constexpr std::size_t end = name.find_first_of("];", name.find("Command = "));
    constexpr std::size_t begin = name.rfind(':', end) + 1;
    return name.substr(begin, end - begin);
}

template <class Command, class List>
inline constexpr bool is_listed = false;
template <class Command, class... Commands>
inline constexpr bool is_listed<Command, command_list<Commands...>> =
    (std::same_as<Command, Commands> || ...);

template <class... Commands>
consteval auto table_of(command_list<Commands...>) {
    return std::array{listed_command{Commands::type, name_of_struct<Commands>(), Commands::traits}...};
}

}  // namespace listing

/// A command of the list: only these can be sent (make_envelope, command_gateway, api::call).
template <class Command>
concept any_command = described<Command> && commands::listing::is_listed<Command, all_commands>;

inline constexpr auto command_table = commands::listing::table_of(all_commands{});

static_assert(std::ranges::adjacent_find(command_table, std::ranges::greater_equal{},
                                         &listed_command::type) == command_table.end(),
              "commands stand in the list by number, and no two have the same");
static_assert(std::ranges::all_of(command_table,
                                  [](const listed_command& one) {
                                      return one.type != command_type{} && one.traits.level >= first_level &&
                                             one.traits.level <= newest_level;
                                  }),
              "0 is no command's number, and newest_level is at least every command's level");

/// nullptr for a type unknown to this program.
constexpr const listed_command* find_command(command_type type) noexcept {
    const auto found = std::ranges::lower_bound(command_table, type, {}, &listed_command::type);
    return found != command_table.end() && found->type == type ? &*found : nullptr;
}

/// With level, type and body; the sender fills in the rest.
template <any_command Command>
command_envelope make_envelope(const Command& command) {
    command_envelope envelope;
    envelope.level = Command::traits.level;
    envelope.type = Command::type;
    envelope.body = encode(command);
    return envelope;
}

}  // namespace herald::schemas::commands
