#include "schemas/commands/all.hpp"

#include <algorithm>
#include <array>

namespace herald::schemas::commands {
namespace {

/// "create_model" for create_model.
template <class Command>
consteval std::string_view name_of_struct() {
    constexpr std::string_view name = __PRETTY_FUNCTION__;  // "… [Command = herald::schemas::create_model]"
    constexpr std::size_t end = name.find_first_of("];", name.find("Command = "));
    constexpr std::size_t begin = name.rfind(':', end) + 1;
    return name.substr(begin, end - begin);
}

template <class... Commands>
consteval auto table_of(command_list<Commands...>) {
    std::array table{listed_command{Commands::type, name_of_struct<Commands>(), traits_of<Commands>()}...};
    std::ranges::sort(table, {}, &listed_command::type);
    return table;
}

constexpr auto table = table_of(all_commands{});

static_assert(std::ranges::adjacent_find(table, {}, &listed_command::type) == table.end(),
              "no two commands have the same number");
static_assert(std::ranges::all_of(table,
                                  [](const listed_command& one) {
                                      return one.type != command_type{} && one.traits.level >= first_level &&
                                             one.traits.level <= newest_level;
                                  }),
              "no command has the number 0, and newest_level is at least every command's level");

}  // namespace

std::span<const listed_command> command_table() noexcept { return table; }

const listed_command* find_command(command_type type) noexcept {
    const auto found = std::ranges::lower_bound(table, type, {}, &listed_command::type);
    return found != table.end() && found->type == type ? &*found : nullptr;
}

}  // namespace herald::schemas::commands
