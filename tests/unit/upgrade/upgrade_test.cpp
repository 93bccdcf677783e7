// Protects upgrades with two versions of Herald on one log (design.md §1 "Levels"): a rolling upgrade stops
// no older node and splits no cluster, and whatever the newer version does differently begins at one offset,
// on all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/log/topics.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/genesis.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/seeded_random.hpp"
#include "tests/unit/upgrade/member.hpp"

namespace herald::storage {
std::unique_ptr<upgrade::member> make_member(const upgrade::ground&, const std::string&,
                                             const upgrade::rows&);
}
namespace herald::storage_next {
std::unique_ptr<upgrade::member> make_member(const upgrade::ground&, const std::string&,
                                             const upgrade::rows&);
}

namespace herald::upgrade {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t minute_ms = 60'000;
const events::log::topic_partition commands{std::string(events::log::topic::commands), 0};

/// A log begun by the old version, and nodes of both versions on it.
class upgrade_test : public testing::Test {
  protected:
    using version = std::unique_ptr<member> (*)(const ground&, const std::string&, const rows&);
    static constexpr version old_version = storage::make_member;
    static constexpr version new_version = storage_next::make_member;

    upgrade_test() {
        EXPECT_TRUE(x_log.create_topics());
        storage::node::genesis_options options;
        options.admin_email = "admin@example.org";
        options.admin_key = std::string(admin_key);
        options.organization_name = "default";
        const auto nothing = storage::registry::state::make_memory_state();
        const auto begun =
            storage::node::begin_log(x_log, x_keys, options, *nothing->view(), x_random, x_scheduler.clock());
        EXPECT_TRUE(begun) << begun.error().message;
    }

    member& start(version of, const std::string& name) {
        x_members[name] = of({x_broker, x_scheduler, x_random}, name, x_states[name]);
        x_scheduler.run_for(3'000);
        return *x_members[name];
    }
    /// SIGTERM; the rows stay.
    void stop(const std::string& name) {
        x_members[name]->drain();
        x_scheduler.run_for(2'000);
        x_states[name] = x_members[name]->state();
        x_members.erase(name);
    }
    member& upgrade(const std::string& name) {
        stop(name);
        return start(new_version, name);
    }
    void run_for(std::int64_t ms) { x_scheduler.run_for(ms); }

    void append_raise(std::uint32_t to) {
        schemas::commands::command_envelope command =
            schemas::commands::make_envelope(schemas::commands::raise_level{to});
        const auto first = schemas::commands::open_envelope(*x_broker.records(commands).front().value);
        command.log_id = first->log_id;
        command.generation = first->generation;
        command.command_id = x_random.uuid();
        command.sender_clock_ms = x_scheduler.clock().wall_ms();
        command.not_after_ms = INT64_MAX;
        const auto producer = x_log.open_producer(events::log::producer_kind::ordinary);
        EXPECT_TRUE(
            producer->append(commands, "", schemas::commands::seal_envelope(command), [](const auto&) {}));
        x_scheduler.settle();
    }

    /// Number 15 of kind bytes: "7".
    bool a_heartbeat_has_the_new_field() const {
        bool found = false;
        for (const events::log::record& record : x_broker.records(commands)) {
            const auto command = schemas::commands::open_envelope(*record.value);
            found |= command && command->type == schemas::commands::node_heartbeat::type &&
                     command->body.ends_with("\x3e\x01\x37");
        }
        return found;
    }

    void expect_all_well(std::uint32_t level) {
        ASSERT_FALSE(x_members.empty());
        const member& first = *x_members.begin()->second;
        for (const auto& [name, one] : x_members) {
            EXPECT_TRUE(one->is_ready()) << name;
            EXPECT_EQ(one->failure(), "") << name;
            EXPECT_EQ(one->next_offset(), first.next_offset()) << name;
            EXPECT_EQ(one->hash(), first.hash()) << name;
            EXPECT_EQ(one->level_in_force(), level) << name;
        }
    }
    void expect_taken(const std::shared_ptr<reply>& got) {
        ASSERT_TRUE(got->is_there);
        EXPECT_TRUE(got->was_applied && got->code == error_code{}) << got->message;
    }

    test::manual_scheduler x_scheduler;
    test::seeded_random x_random{7};
    events::log::memory::memory_broker x_broker{x_scheduler.clock()};
    events::log::memory::memory_log x_log{x_broker, [](const std::function<void()>& task) { task(); }};
    runtime::key_ring x_keys = runtime::key_ring::of("first", std::string(32, 'k'));
    std::map<std::string, rows> x_states;
    std::map<std::string, std::unique_ptr<member>> x_members;
};

TEST_F(upgrade_test, nodes_of_both_versions_go_on_together_at_the_older_level) {
    member& a = start(old_version, "a");
    member& b = start(old_version, "b");
    member& c = start(new_version, "c");
    expect_taken(a.create_webhook());
    expect_taken(a.create_model("of a"));
    expect_taken(b.create_model("of b"));
    expect_taken(c.create_model("of c"));
    run_for(2 * minute_ms);
    expect_all_well(1);
    EXPECT_TRUE(a_heartbeat_has_the_new_field()) << "else nothing is proved here";
    EXPECT_EQ(c.description_of(3), "") << "the new rule must wait for its level";
    ASSERT_EQ(c.events().size(), 3u);
    for (const std::string& body : c.events()) EXPECT_THAT(body, Not(HasSubstr("since")));

    const auto refused = c.describe_model(1, "too early");
    ASSERT_TRUE(refused->is_there);
    EXPECT_FALSE(refused->was_applied) << "it must not reach the log";
    EXPECT_EQ(refused->code, error_code::unavailable);
    EXPECT_THAT(refused->message,
                AllOf(HasSubstr("describe_model"), HasSubstr("level 2"), HasSubstr("a (level 1)"),
                      HasSubstr("b (level 1)"), Not(HasSubstr("c ("))));
    run_for(30 * minute_ms);
    expect_all_well(1);
}

TEST_F(upgrade_test, the_level_is_not_raised_over_an_older_node_that_runs) {
    start(old_version, "a");
    start(new_version, "b");
    append_raise(2);
    run_for(minute_ms);
    expect_all_well(1);
    stop("a");
    append_raise(2);
    run_for(3'000);
    expect_all_well(2);
}

TEST_F(upgrade_test,
       ten_minutes_after_the_last_node_was_upgraded_the_new_version_begins_on_all_at_one_offset) {
    member& a = start(old_version, "a");
    start(old_version, "b");
    start(new_version, "c");
    expect_taken(a.create_webhook());
    run_for(20 * minute_ms);
    upgrade("a");
    run_for(20 * minute_ms);
    expect_all_well(1);
    member& b = upgrade("b");
    expect_taken(b.create_model("before"));
    run_for(9 * minute_ms);
    expect_all_well(1);
    run_for(2 * minute_ms);
    expect_all_well(2);

    for (auto& [name, one] : x_members) expect_taken(one->create_model("by " + name));
    expect_taken(x_members["c"]->describe_model(1, "described"));
    run_for(3'000);
    expect_all_well(2);
    for (const auto& [name, one] : x_members) {
        EXPECT_EQ(one->description_of(1), "described") << name;
        EXPECT_EQ(one->description_of(2), "none") << name;
        ASSERT_EQ(one->events().size(), 4u) << name;
        EXPECT_THAT(one->events().front(), Not(HasSubstr("since"))) << name;
        EXPECT_THAT(one->events().back(), HasSubstr("\"since\":2")) << name;
    }
}

TEST_F(upgrade_test, an_older_version_does_not_start_at_a_log_that_was_raised_above_it) {
    start(old_version, "a");
    start(new_version, "b");
    stop("a");
    append_raise(2);
    run_for(3'000);
    expect_all_well(2);
    member& behind = start(old_version, "a");  // has not read it yet
    EXPECT_EQ(behind.failure(), "level_too_low");
    x_states["a"] = behind.state();
    EXPECT_FALSE(start(old_version, "a").is_ready());  // has it in its state
    EXPECT_EQ(x_members["a"]->failure(), "level_too_low");
    EXPECT_EQ(start(old_version, "new").failure(), "level_too_low");
    x_members.erase("a");
    x_members.erase("new");
    run_for(3'000);
    expect_all_well(2);
    EXPECT_EQ(start(new_version, "a").failure(), "");
    expect_all_well(2);
}

TEST_F(upgrade_test, what_the_new_version_made_replays_to_the_same_state) {
    start(new_version, "a");
    expect_taken(x_members["a"]->create_webhook());
    append_raise(2);
    expect_taken(x_members["a"]->create_model("m"));
    expect_taken(x_members["a"]->describe_model(1, "d"));
    start(new_version, "b");  // from the start of the log
    run_for(3'000);
    expect_all_well(2);
}

}  // namespace
}  // namespace herald::upgrade
