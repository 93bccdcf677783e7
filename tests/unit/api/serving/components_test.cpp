// A model is loaded while somebody holds it, unloaded once nobody does, and every update that waits for it is
// told.
#include "api/serving/components.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "api/serving/limits.hpp"
#include "runtime/metric_names.hpp"
#include "runtime/metrics.hpp"
#include "schemas/commands/serving.hpp"
#include "schemas/limits.hpp"
#include "serving_parts.hpp"
#include "tests/support/until.hpp"

namespace herald::api::serving {
namespace {

using schemas::commands::component_ready;
using test::eventually;

class components_test : public testing::Test {
  protected:
    components_test() {
        models = std::make_shared<components>(components::parts{node,
                                                                loops[0],
                                                                loops.blocking(),
                                                                runtime::system_random(),
                                                                {engine},
                                                                nullptr,
                                                                {{"onnx", "its library is missing"}}});
    }
    ~components_test() override {
        models->end();
        loops.stop();
    }

    static component_source source_of(std::uint64_t build) {
        component_source source;
        source.key.build = {build};
        source.runtime = "upstream";
        source.has_file = false;
        source.upstream_url = "http://upstream.example.com";
        return source;
    }
    std::vector<component_ready> told() const { return node.told<component_ready>(); }

    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 8}};
    test::keeping_node node;
    std::shared_ptr<test::told_engine> engine = std::make_shared<test::told_engine>("upstream");
    std::shared_ptr<components> models;
};

TEST_F(components_test, one_that_several_hold_is_loaded_once) {
    const auto first = models->hold(source_of(1));
    const auto second = models->hold(source_of(1));
    EXPECT_EQ(first, second);
    EXPECT_TRUE(eventually([&] { return first->model() != nullptr; }));
    EXPECT_EQ(engine->loads_of(1), 1u);
}

TEST_F(components_test, one_with_other_batching_is_another) {
    component_source batched = source_of(1);
    batched.key.batching.size_max = 8;
    EXPECT_NE(models->hold(source_of(1)), models->hold(batched));
}

TEST_F(components_test, one_that_nobody_holds_is_unloaded_and_loaded_anew_when_it_is_wanted_again) {
    auto held = models->hold(source_of(1));
    ASSERT_TRUE(eventually([&] { return held->model() != nullptr; }));
    held.reset();
    EXPECT_TRUE(eventually([&] { return !engine->has_model_of(1); }));
    held = models->hold(source_of(1));
    EXPECT_TRUE(eventually([&] { return held->model() != nullptr; }));
    EXPECT_EQ(engine->loads_of(1), 2u);
}

TEST_F(components_test, an_update_is_told_once_its_component_is_loaded) {
    engine->hold(true);
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    models->tell_when_ready({9}, held);
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == 1; }));
    EXPECT_TRUE(told().empty());
    engine->hold(false);
    ASSERT_TRUE(eventually([&] { return !told().empty(); }));
    EXPECT_EQ(told()[0].update_id.value, 9u);
    EXPECT_EQ(told()[0].node, "n1");
    EXPECT_EQ(told()[0].boot, node.me().boot);
    EXPECT_EQ(told()[0].error, "");
}

TEST_F(components_test, an_update_that_begins_when_the_component_is_loaded_is_told_too) {
    const auto held = models->hold(source_of(1));
    ASSERT_TRUE(eventually([&] { return held->model() != nullptr; }));
    models->tell_when_ready({9}, held);
    models->tell_when_ready({9}, held);
    models->tell_when_ready({10}, held);
    EXPECT_EQ(eventually([&] { return told().size(); }, 2), 2u);
}

TEST_F(components_test, what_the_log_does_not_take_is_told_again) {
    node.refuse_next(2);
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    EXPECT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_EQ(node.asked(), 3u);
}

TEST_F(components_test, what_the_log_takes_only_after_the_first_heartbeat_is_told_again) {
    node.abort_next(1);
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    EXPECT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_EQ(node.asked(), 2u);
}

TEST_F(components_test, a_model_that_cannot_be_served_is_told_with_its_reason) {
    engine->fail_next(1, runtime::invalid_argument("its operator Foo is not known"));
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    ASSERT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_EQ(told()[0].error, "its operator Foo is not known");
    EXPECT_EQ(held->why_not_loaded(), "its operator Foo is not known");
}

TEST_F(components_test, a_reason_is_told_as_text_that_the_log_takes) {
    engine->fail_next(1, runtime::invalid_argument("its bytes \xff are wrong" + std::string(10'000, '!')));
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    ASSERT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_TRUE(told()[0].error.starts_with("its bytes \xEF\xBF\xBD are wrong"));
    EXPECT_EQ(told()[0].error.size(), limits::stage_log_message_bytes_max);
}

TEST_F(components_test, what_may_pass_is_tried_again_before_the_update_is_told) {
    engine->fail_next(1, runtime::unavailable("the store does not answer"));
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    ASSERT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_EQ(told()[0].error, "");
    EXPECT_EQ(engine->loads_of(1), 2u);
}

TEST_F(components_test, a_node_without_the_runtime_says_so) {
    component_source source = source_of(1);
    source.runtime = "onnx";
    const auto held = models->hold(source);
    models->tell_when_ready({9}, held);
    ASSERT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    EXPECT_EQ(told()[0].error, "this node cannot run models of the runtime \"onnx\": its library is missing");
}

TEST_F(components_test, a_load_under_way_is_told_to_end_once_nobody_holds_its_component) {
    engine->hold(true);
    auto held = models->hold(source_of(1));
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == 1; }));
    held.reset();
    EXPECT_TRUE(eventually([&] { return engine->at_a_time() == 0; }));
    engine->hold(false);
}

TEST_F(components_test, loads_under_way_are_told_to_end_with_all_of_them) {
    engine->hold(true);
    const auto held = models->hold(source_of(1));
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == 1; }));
    std::thread ending([&] { models->end(); });
    EXPECT_TRUE(eventually([&] { return engine->at_a_time() == 0; }));
    engine->hold(false);
    ending.join();
}

TEST_F(components_test, one_whose_loading_throws_is_tried_again_and_leaves_its_place_to_others) {
    std::vector<std::shared_ptr<component>> held;
    for (std::uint64_t build = 1; build <= limits::model_loads_max; ++build) {
        engine->throw_next(build);
        held.push_back(models->hold(source_of(build)));
    }
    held.push_back(models->hold(source_of(100)));
    for (const auto& each : held) EXPECT_TRUE(eventually([&] { return each->model() != nullptr; }));
}

TEST_F(components_test, only_a_few_are_loaded_at_a_time) {
    engine->hold(true);
    std::vector<std::shared_ptr<component>> held;
    for (std::uint64_t build = 1; build <= 8; ++build) held.push_back(models->hold(source_of(build)));
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == limits::model_loads_max; }));
    engine->hold(false);
    for (const auto& each : held) EXPECT_TRUE(eventually([&] { return each->model() != nullptr; }));
    EXPECT_EQ(engine->most_at_a_time(), limits::model_loads_max);
}

TEST_F(components_test, one_that_nobody_holds_any_more_is_not_loaded) {
    engine->hold(true);
    std::vector<std::shared_ptr<component>> held;
    for (std::uint64_t build = 1; build <= limits::model_loads_max; ++build)
        held.push_back(models->hold(source_of(build)));
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == limits::model_loads_max; }));
    models->hold(source_of(100)).reset();
    const auto last = models->hold(source_of(101));
    engine->hold(false);
    EXPECT_TRUE(eventually([&] { return last->model() != nullptr; }));
    EXPECT_EQ(engine->loads_of(100), 0u);
}

TEST_F(components_test, one_that_is_let_go_while_it_is_loaded_was_never_among_the_loaded_ones) {
    const auto& shown = runtime::metric_gauge(runtime::metrics::models_loaded);
    const std::int64_t before = shown.value();
    engine->hold(true);
    auto held = models->hold(source_of(1));
    ASSERT_TRUE(eventually([&] { return engine->at_a_time() == 1; }));
    held.reset();
    engine->hold(false);
    ASSERT_TRUE(eventually([&] { return engine->made_of(1) == 1 && !engine->has_model_of(1); }));
    EXPECT_EQ(shown.value(), before);
}

TEST_F(components_test, an_update_that_has_ended_is_forgotten) {
    const auto held = models->hold(source_of(1));
    models->tell_when_ready({9}, held);
    ASSERT_EQ(eventually([&] { return told().size(); }, 1), 1u);
    models->forget({9});
    models->tell_when_ready({9}, held);
    EXPECT_EQ(eventually([&] { return told().size(); }, 2), 2u);
}

TEST_F(components_test, while_an_engine_goes_on_trying_its_newest_reason_is_known) {
    engine->hold(true);
    engine->tell_of_next(1, "nobody listens there");
    const auto held = models->hold(source_of(1));
    EXPECT_EQ(eventually([&] { return held->why_not_loaded(); }, std::string("nobody listens there")),
              "nobody listens there");
    EXPECT_EQ(models->why_not_loaded(source_of(1).key), "nobody listens there");
    EXPECT_EQ(models->why_not_loaded(source_of(2).key), "");
    engine->hold(false);
    ASSERT_TRUE(eventually([&] { return held->model() != nullptr; }));
    EXPECT_EQ(models->why_not_loaded(source_of(1).key), "");
}

}  // namespace
}  // namespace herald::api::serving
