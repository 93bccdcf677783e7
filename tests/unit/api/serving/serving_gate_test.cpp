// Protects P7's two conditions: what becomes unsafe is unsafe for everybody who has the build, for ever, and
// a node without a lease answers nothing.
#include "api/serving/serving_gate.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "serving_parts.hpp"

namespace herald::api::serving {
namespace {

TEST(serving_gate, gives_all_who_ask_the_same_safety_of_a_build) {
    const runtime::manual_clock time;
    serving_gate gate(time);
    const auto first = gate.safety_of({1});
    const auto second = gate.safety_of({1});
    const auto other = gate.safety_of({2});
    EXPECT_EQ(first, second);
    EXPECT_NE(first, other);
    EXPECT_EQ(first->unsafe_scan(), schemas::scan_id{});
    second->set_unsafe({44});
    EXPECT_EQ(first->unsafe_scan(), schemas::scan_id{44});
    EXPECT_EQ(gate.safety_of({1})->unsafe_scan(), schemas::scan_id{44});
    EXPECT_EQ(other->unsafe_scan(), schemas::scan_id{});
}

TEST(serving_gate, keeps_what_is_held_while_others_are_let_go) {
    const runtime::manual_clock time;
    serving_gate gate(time);
    const auto held = gate.safety_of({1});
    held->set_unsafe({7});
    for (std::uint64_t build = 2; build < 1'000; ++build) gate.safety_of({build});
    EXPECT_EQ(gate.safety_of({1}), held);
}

TEST(serving_gate, marks_a_build_for_whoever_has_it_and_keeps_nothing_of_others) {
    const runtime::manual_clock time;
    serving_gate gate(time);
    const auto held = gate.safety_of({1});
    gate.set_unsafe({1}, {44});
    gate.set_unsafe({2}, {45});
    EXPECT_EQ(held->unsafe_scan(), schemas::scan_id{44});
    EXPECT_EQ(gate.safety_of({2})->unsafe_scan(), schemas::scan_id{}) << "nobody had it: its row says so";
}

TEST(serving_gate, tells_other_threads_at_once) {
    const runtime::manual_clock time;
    serving_gate gate(time);
    for (std::uint64_t build = 1; build <= 100; ++build) {
        std::vector<std::shared_ptr<build_safety>> seen(4);
        std::vector<std::jthread> threads;
        for (auto& place : seen) threads.emplace_back([&, build] { place = gate.safety_of({build}); });
        threads.clear();
        seen[0]->set_unsafe({build});
        for (const auto& each : seen) EXPECT_EQ(each->unsafe_scan().value, build);
    }
}

TEST(serving_gate, has_a_lease_as_long_as_its_node_serves) {
    runtime::manual_clock time;
    serving_gate gate(time);
    EXPECT_FALSE(gate.has_lease()) << "no node yet";
    const test::keeping_node node;
    gate.begin(node);
    EXPECT_TRUE(gate.has_lease());
    time.advance_ms(node.serves_until_ms() - time.steady_ms() - 1);
    EXPECT_TRUE(gate.has_lease());
    time.advance_ms(1);
    EXPECT_FALSE(gate.has_lease());
}

TEST(serving_gate, lets_nothing_out_once_it_is_closed) {
    runtime::manual_clock time;
    serving_gate gate(time);
    test::keeping_node node;
    gate.begin(node);
    ASSERT_TRUE(gate.has_lease());
    std::function<void()> passed;
    bool is_drained = false;
    gate.close([&](std::function<void()> done) { passed = std::move(done); }, node,
               [&] { is_drained = true; });
    EXPECT_FALSE(gate.has_lease());
    EXPECT_FALSE(is_drained) << "what has passed before may still go out";
    passed();
    EXPECT_TRUE(is_drained);
}

TEST(serving_gate, does_not_look_at_the_wall_clock) {
    runtime::manual_clock time;
    serving_gate gate(time);
    const test::keeping_node node;
    gate.begin(node);
    time.jump_wall_ms(std::int64_t{1} << 61);
    EXPECT_TRUE(gate.has_lease());
}

}  // namespace
}  // namespace herald::api::serving
