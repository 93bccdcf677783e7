// Protects old logs, which are read for ever: no command changes its number, level or bytes, and no member is
// forgotten.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "tests/support/filled.hpp"
#include "tests/support/frozen.hpp"

namespace herald::schemas {
namespace {

using commands::command_table;
using commands::find_command;

template <class... Commands>
std::vector<std::string> lines_of(commands::command_list<Commands...>) {
    const auto line = [](const commands::listed_command& listed, const std::string& bytes) {
        return test::frozen_line(std::to_string(static_cast<unsigned>(listed.type)) + " " +
                                     std::string(listed.name) + " level " +
                                     std::to_string(listed.traits.level),
                                 bytes);
    };
    return {line(*find_command(Commands::type), encode(test::filled<Commands>()))...};
}

TEST(commands, and_their_envelope_and_outcome_keep_their_bytes) {
    std::vector<std::string> lines = lines_of(commands::all_commands{});
    const std::string envelope = commands::seal_envelope(test::filled<commands::command_envelope>());
    lines.push_back(test::frozen_line("envelope", envelope));
    lines.push_back(test::frozen_line("outcome", encode(test::filled<commands::outcome>())));
    test::expect_frozen(lines, HERALD_FROZEN_BYTES);
}

template <class Command>
void expect_read_back(const Command& filled) {
    const auto read = decode<Command>(encode(filled));
    ASSERT_TRUE(read);
    EXPECT_EQ(encode(*read), encode(filled));
}

template <class... Commands>
void expect_all_read_back(commands::command_list<Commands...>) {
    (expect_read_back(test::filled<Commands>()), ...);
}

TEST(commands, are_read_back_whole) { expect_all_read_back(commands::all_commands{}); }

TEST(commands, are_found_by_their_numbers_and_no_others_are) {
    EXPECT_EQ(find_command(commands::create_model::type)->name, "create_model");
    EXPECT_EQ(find_command(commands::genesis::type), &command_table.front());
    EXPECT_EQ(find_command(commands::report_replay::type), &command_table.back());
    for (const unsigned number : {0u, 9u, 200u, 65'535u})
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

// encode, decode and both directions of JSON assert it: a forgotten member would be lost silently.
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
