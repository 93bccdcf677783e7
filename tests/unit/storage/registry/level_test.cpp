// Protects levels (design.md §1): every version treats a command above the level in force the same way, and
// only RAISE_LEVEL raises that level, never while a running node cannot follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/commands/limits.hpp"
#include "storage/registry/tables/installation.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::engine;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using schemas::commands::newest_level;
using testing::HasSubstr;

constexpr std::uint32_t next_level = newest_level + 1;

schemas::commands::create_model model_command(const std::string& name) {
    schemas::commands::create_model command;
    command.workspace_name = "default";
    command.model.name = name;
    return command;
}

schemas::commands::node_heartbeat heartbeat_of(const std::string& node, std::uint32_t level) {
    schemas::commands::node_heartbeat beat;
    beat.node = node;
    beat.boot[0] = static_cast<std::uint8_t>(node.front());
    beat.first = true;
    beat.newest_level = level;
    return beat;
}

TEST(levels, a_command_above_the_level_in_force_is_refused_by_its_envelope_alone) {
    registry registry;
    auto known = registry.envelope_of(registry.admin, model_command("a"));
    known.level = next_level;
    auto unknown = known;
    unknown.type = schemas::commands::command_type{4711};
    unknown.body = "\xff";
    for (const auto& command : {known, unknown}) {
        const auto applied = registry.engine_of_log.apply(registry.record_of(command));
        ASSERT_TRUE(applied) << applied.error().message;
        EXPECT_EQ(code_of(applied->outcome), error_code::failed_precondition);
        EXPECT_THAT(applied->outcome.message, HasSubstr("level"));
    }
    EXPECT_EQ(registry.run(model_command("a")).code, 0u) << "the name must still be free";
}

TEST(levels, are_not_raised_while_a_node_that_was_heard_of_late_advertises_less) {
    registry registry;
    EXPECT_EQ(registry.run(heartbeat_of("older", newest_level)).code, 0u);
    EXPECT_EQ(registry.run(heartbeat_of("newer", next_level)).code, 0u);
    registry.now_ms += limits::claim_lapse_ms;
    EXPECT_EQ(registry.run(heartbeat_of("newer", next_level)).code, 0u);
    const auto refused = registry.run(schemas::commands::raise_level{next_level});
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("older (level " + std::to_string(newest_level) + ")"));
    EXPECT_EQ(registry.engine_of_log.level(), newest_level);
    registry.now_ms += 1;
    EXPECT_EQ(registry.run(schemas::commands::raise_level{next_level}).code, 0u);
    EXPECT_EQ(registry.engine_of_log.level(), next_level);
}

TEST(levels, a_node_that_has_taken_its_leave_holds_no_raise_up) {
    registry registry;
    EXPECT_EQ(registry.run(heartbeat_of("older", newest_level)).code, 0u);
    auto farewell = heartbeat_of("older", newest_level);
    farewell.last = true;
    EXPECT_EQ(registry.run(farewell).code, 0u);
    EXPECT_EQ(registry.run(schemas::commands::raise_level{next_level}).code, 0u);
    EXPECT_EQ(registry.engine_of_log.level(), next_level);
}

TEST(levels, a_log_above_its_own_level_is_not_for_this_program_before_and_after_a_start) {
    registry registry;
    EXPECT_TRUE(registry.engine_of_log.check_level());
    EXPECT_EQ(registry.run(schemas::commands::raise_level{next_level}).code, 0u);
    const auto next = registry.record_of(registry.envelope_of(registry.admin, model_command("a")));
    const auto refused = registry.engine_of_log.apply(next);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::failed_precondition);
    EXPECT_THAT(refused.error().message, HasSubstr("install a newer one"));
    EXPECT_TRUE(registry.engine_of_log.write());
    engine again(*registry.store);
    EXPECT_EQ(again.level(), next_level);
    EXPECT_FALSE(again.check_level());
    EXPECT_FALSE(again.apply(next));
}

TEST(levels, are_never_lowered) {
    registry registry;
    EXPECT_EQ(registry.run(schemas::commands::raise_level{newest_level}).code, 0u);
    EXPECT_EQ(registry.run(schemas::commands::raise_level{0}).code, 0u);
    EXPECT_EQ(registry.engine_of_log.level(), newest_level);
    EXPECT_EQ(level_in_force(*registry.view()), newest_level);
}

TEST(levels, a_log_may_begin_at_a_higher_one) {
    const auto store = make_memory_state();
    engine at_start(*store);
    schemas::commands::genesis genesis;
    genesis.event_partitions = 1;
    genesis.admin_uuid = some_uuid;
    genesis.admin_email = "admin@example.org";
    genesis.level = next_level;
    auto command = schemas::commands::make_envelope(genesis);
    command.not_after_ms = INT64_MAX;
    const auto applied =
        at_start.apply({0, 1'700'000'000'000, "", schemas::commands::seal_envelope(command)});
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(applied->outcome.code, 0u) << applied->outcome.message;
    EXPECT_EQ(at_start.level(), next_level);
}

// Nodes of all versions write it, at any level.
TEST(levels, what_a_heartbeat_writes_is_frozen) {
    registry registry;
    auto beat = heartbeat_of("n", 1);
    beat.applied_offset = 5;
    beat.record_hash = beat.state_hash = "h";
    beat.vouches = true;
    const auto before = registry.view();
    ASSERT_EQ(registry.run(beat).code, 0u);
    std::map<std::string, std::string> written;
    const std::string position = key_of(table::position);
    registry.view()->scan("", {}, [&](std::string_view key, std::string_view value) {
        if (key != position && before->get(key) != std::string(value))
            written.emplace(runtime::to_hex(key), runtime::to_hex(value));
        return true;
    });
    const std::map<std::string, std::string> frozen{
        {"680000018bd50bc400066e", ""},  // the timer node_silence
        {"6d6e", "06016e0a106e0000000000000000000000000000000c80a0abfef962100514011801"},
    };
    EXPECT_EQ(written, frozen);
}

}  // namespace
}  // namespace herald::test
