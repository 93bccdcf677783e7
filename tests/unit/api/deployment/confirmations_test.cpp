// Protects P7 and what it costs: who reported a build unsafe waits until every node in contact has said that
// it knows, is told as soon as that is so, and costs nothing while nobody says anything.
#include "api/deployment/confirmations.hpp"

#include <gtest/gtest.h>

#include "api/deployment/limits.hpp"
#include "schemas/commands/nodes.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

class confirmations_test : public testing::Test {
  protected:
    /// A node that serves says that it has applied the record at this offset.
    void beat(std::uint64_t applied_offset) {
        schemas::commands::node_heartbeat beat;
        beat.node = "other";
        beat.boot[0] = 1;
        beat.first = true;
        beat.applied_offset = applied_offset;
        beat.isolation_grace_ms = 900'000;
        beat.serves_predictions = true;
        const auto outcome = all.run(beat);
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
        for (const auto& each : std::exchange(waiting, {})) each();
        loop.settle();
    }
    /// Those that are to hear of what is at this offset.
    void wait(std::uint64_t offset, int count = 1) {
        const api::deployment::confirmation_sources with{
            [this] {
                ++looks;
                const reading seen{all.view(), all.offset - 1, 1, false};
                if (std::exchange(says_it_while_looking, false)) beat(offset_said);
                return is_failed ? std::nullopt : std::optional(seen);
            },
            [this](std::function<void()> woken) { waiting.push_back(std::move(woken)); }, nullptr, loop,
            true};
        for (int i = 0; i < count; ++i) api::deployment::when_confirmed(with, offset, [this] { ++heard; });
        loop.settle();
    }
    using reading = storage::node::registry_node::reading;

    registry all;
    manual_scheduler loop;
    std::vector<std::function<void()>> waiting;  // for the next heartbeat
    int looks = 0;
    int heard = 0;
    bool is_failed = false;
    bool says_it_while_looking = false;
    std::uint64_t offset_said = 0;
};

TEST_F(confirmations_test, a_hundred_that_wait_look_once_a_heartbeat_and_never_between) {
    beat(0);
    const std::uint64_t report = all.offset;
    wait(report, 100);
    EXPECT_EQ(looks, 100);
    loop.run_for(2'000);
    EXPECT_EQ(looks, 100);
    beat(report - 1);
    EXPECT_EQ(looks, 200);
    EXPECT_EQ(heard, 0);
    beat(report);
    EXPECT_EQ(looks, 300);
    EXPECT_EQ(heard, 100);
    beat(report);
    loop.run_for(60'000);
    EXPECT_EQ(looks, 300) << "what was heard waits no more";
    EXPECT_EQ(heard, 100);
}

TEST_F(confirmations_test, nobody_waits_longer_than_the_bound) {
    beat(0);
    const std::uint64_t report = all.offset;
    wait(report);
    loop.run_for(limits::confirmation_ms_max - 1);
    EXPECT_EQ(heard, 0);
    loop.run_for(1);
    EXPECT_EQ(heard, 1);
    beat(report);
    EXPECT_EQ(heard, 1);
}

TEST_F(confirmations_test, what_is_known_already_is_not_waited_for) {
    beat(all.offset + 1);
    wait(all.offset - 1);
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(looks, 1);
}

TEST_F(confirmations_test, what_is_said_while_it_looks_is_heard) {
    beat(0);
    offset_said = all.offset;
    says_it_while_looking = true;
    wait(offset_said);
    EXPECT_EQ(heard, 1);
}

TEST_F(confirmations_test, a_node_that_has_failed_waits_for_nobody) {
    beat(0);
    wait(all.offset);
    is_failed = true;
    for (const auto& each : std::exchange(waiting, {})) each();
    loop.settle();
    EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace herald::test
