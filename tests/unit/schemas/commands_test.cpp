// What is in a log is read for ever: no command changes its number, level or bytes, and no member is
// forgotten.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "tests/unit/schemas/command_bytes.hpp"

namespace herald::schemas {
namespace {

using commands::command_table;
using commands::find_command;

/// Gives every member of a described value something that is not its default, by number and name alone.
struct filler {
    template <class T>
    void operator()(unsigned number, std::string_view name, T& value, shown = shown::always) const {
        if constexpr (optional_field<T>) {
            (*this)(number, name, value.emplace());
        } else if constexpr (vector_field<T>) {
            value.resize(2);
            (*this)(number, name, value[0]);
            (*this)(number + 1, name, value[1]);
        } else if constexpr (described<T>) {
            T::describe(value, *this);
        } else if constexpr (std::same_as<T, std::string>) {
            value = name;
        } else if constexpr (std::same_as<T, json_text>) {
            value.text = "{\"" + std::string(name) + "\":1}";
        } else if constexpr (std::same_as<T, binary_text>) {
            value.bytes = name;
        } else if constexpr (byte_array<T>) {
            value.fill(static_cast<std::uint8_t>(number));
        } else if constexpr (numeric_id<T>) {
            value.value = 300 + number;
        } else if constexpr (signed_number<T>) {
            value = static_cast<T>(-100 - static_cast<int>(number));
        } else if constexpr (std::is_enum_v<T> || std::same_as<T, bool>) {
            value = static_cast<T>(1);
        } else {
            value = static_cast<T>(100 + number);
        }
    }
};

template <class Command>
void expect_frozen() {
    Command filled{};
    Command::describe(filled, filler{});
    const std::string bytes = encode(filled);
    const commands::listed_command& listed = *find_command(Command::type);
    const std::string now = "{" + std::to_string(static_cast<unsigned>(Command::type)) + ", \"" +
                            std::string(listed.name) + "\", " + std::to_string(Command::traits.level) +
                            ", \"" + runtime::to_hex(bytes) + "\"},";
    std::string frozen = "(none: put the line into command_bytes.hpp)";
    for (const frozen_command& one : frozen_commands)
        if (one.number == static_cast<unsigned>(Command::type))
            frozen = "{" + std::to_string(one.number) + ", \"" + std::string(one.name) + "\", " +
                     std::to_string(one.level) + ", \"" + std::string(one.bytes) + "\"},";
    EXPECT_EQ(now, frozen);
    const auto again = decode<Command>(bytes);
    ASSERT_TRUE(again);
    EXPECT_EQ(encode(*again), bytes);
}

template <class... Commands>
void expect_all_frozen(commands::command_list<Commands...>) {
    EXPECT_EQ(std::size(frozen_commands), sizeof...(Commands)) << "a command was taken out of the list";
    (expect_frozen<Commands>(), ...);
}

TEST(commands, keep_their_numbers_levels_and_bytes) { expect_all_frozen(commands::all_commands{}); }

TEST(commands, are_found_by_their_numbers_and_no_others_are) {
    EXPECT_EQ(find_command(commands::create_model::type)->name, "create_model");
    EXPECT_EQ(find_command(commands::genesis::type), &command_table.front());
    EXPECT_EQ(find_command(commands::renew_admin_key::type), &command_table.back());
    for (const unsigned number : {0u, 9u, 61u, 65'535u})
        EXPECT_EQ(find_command(static_cast<commands::command_type>(number)), nullptr) << number;
}

struct whole {
    std::uint64_t number = 7;
    std::optional<std::string> text;
    uuid bytes{};
    std::vector<published_position> list;
    published_position nested;
    json_text json;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "number", self.number);
        field(2, "text", self.text);
        field(3, "bytes", self.bytes);
        field(4, "list", self.list);
        field(5, "nested", self.nested);
        field(6, "json", self.json);
    }
};

template <class Forgotten>
struct forgetful {
    std::uint32_t kept = 0;
    Forgotten forgotten{};

    static constexpr void describe(auto& self, auto&& field) { field(1, "kept", self.kept); }
};

// encode, decode and both ways of JSON assert it: a forgotten member would be lost without a word.
TEST(described, a_member_that_is_not_described_does_not_compile) {
    EXPECT_TRUE(detail::describes_every_member<whole>);
    EXPECT_TRUE(detail::describes_every_member<commands::no_operation>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<bool>>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<std::string>>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<std::optional<std::string>>>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<std::vector<std::string>>>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<uuid>>);
    EXPECT_FALSE(detail::describes_every_member<forgetful<published_position>>);
}

}  // namespace
}  // namespace herald::schemas
