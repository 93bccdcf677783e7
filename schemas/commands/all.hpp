// Every command there is. What depends on the kind of a command (its rule, who may send it, its name, whether
// it passes a full disk) follows from these lists; nothing else enumerates them.
//
// A new command: its struct in the file of its resource and its name in the list there, its rule in
// storage/registry/rules/. A new file of commands: its list here, and in rules.hpp there. In a log that has
// begun it is of the next level (level.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <utility>

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

namespace listing {

/// "create_model" for create_model.
template <class Command>
consteval std::string_view name_of_struct() {
    constexpr std::string_view name = __PRETTY_FUNCTION__;  // "… [Command = herald::schemas::create_model]"
    constexpr std::size_t end = name.find_first_of("];", name.find("Command = "));
    constexpr std::size_t begin = name.rfind(':', end) + 1;
    return name.substr(begin, end - begin);
}

template <class... Some, class... More, class... Lists>
constexpr auto joined(command_list<Some...>, command_list<More...>, Lists... lists) {
    if constexpr (sizeof...(Lists) == 0)
        return command_list<Some..., More...>{};
    else
        return joined(command_list<Some..., More...>{}, lists...);
}

/// Places in Commands, by number.
template <class... Commands>
inline constexpr auto order_of = [] {
    constexpr std::array types{Commands::type...};
    std::array<std::size_t, types.size()> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t place) { return types[place]; });
    return order;
}();

template <class... Commands, std::size_t... Is>
constexpr auto sorted(command_list<Commands...>, std::index_sequence<Is...>) {
    return command_list<std::tuple_element_t<order_of<Commands...>[Is], std::tuple<Commands...>>...>{};
}

template <class... Commands>
constexpr auto sorted(command_list<Commands...> all) {
    return sorted(all, std::make_index_sequence<sizeof...(Commands)>{});
}

template <class... Lists>
constexpr auto sorted(command_lists<Lists...>) {
    return sorted(joined(Lists{}...));
}

template <class Command, class List>
inline constexpr bool is_listed = false;
template <class Command, class... Commands>
inline constexpr bool is_listed<Command, command_list<Commands...>> =
    (std::same_as<Command, Commands> || ...);

template <class... Commands>
consteval auto table_of(command_list<Commands...>) {
    return std::array{listed_command{Commands::type, name_of_struct<Commands>(), traits_of<Commands>()}...};
}

}  // namespace listing

/// By number.
using all_commands = decltype(commands::listing::sorted(all_lists{}));

/// A command of the list: only these can be sent (make_envelope, command_gateway).
template <class Command>
concept any_command = described<Command> && commands::listing::is_listed<Command, all_commands>;

inline constexpr auto command_table = commands::listing::table_of(all_commands{});

static_assert(std::ranges::adjacent_find(command_table, std::ranges::greater_equal{},
                                         &listed_command::type) == command_table.end(),
              "no two commands have the same number");
static_assert(std::ranges::all_of(command_table,
                                  [](const listed_command& one) {
                                      return one.type != command_type{} && one.traits.level >= first_level &&
                                             one.traits.level <= newest_level;
                                  }),
              "no command has the number 0, and newest_level is at least every command's level");

/// nullptr for a type unknown to this program.
constexpr const listed_command* find_command(command_type type) noexcept {
    const auto found = std::ranges::lower_bound(command_table, type, {}, &listed_command::type);
    return found != command_table.end() && found->type == type ? &*found : nullptr;
}

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
