// Protects nodes from models that cannot be loaded: a node that starts waits until each was tried, and no
// longer.
#include "api/serving/first_loads.hpp"

#include <gtest/gtest.h>

#include "api/serving/components.hpp"
#include "api/serving/limits.hpp"
#include "serving_parts.hpp"

namespace herald::api::serving {
namespace {

class first_loads_test : public testing::Test {
  protected:
    bool are_over() { return loads.are_over(all, now_ms); }

    first_loads loads;
    std::int64_t now_ms = 1'000'000;
    const std::vector<std::shared_ptr<component>> all{components::without_model({1}),
                                                      components::without_model({2})};
};

TEST_F(first_loads_test, end_when_each_is_loaded_or_has_a_reason_why_not) {
    EXPECT_FALSE(are_over());
    all[0]->set_model({nullptr, std::make_shared<test::silent_model>()}, nullptr);
    EXPECT_FALSE(are_over());
    all[1]->set_trouble("the connection was refused");
    EXPECT_TRUE(are_over());
    EXPECT_TRUE(loads.are_over({}, now_ms));
}

TEST_F(first_loads_test, do_not_wait_for_long_for_one_whose_first_try_does_not_end) {
    EXPECT_FALSE(are_over());
    now_ms += limits::model_load_awaited_ms - 1;
    all[0]->set_failure("its operator Foo is not known");
    EXPECT_FALSE(are_over());
    now_ms += limits::model_load_awaited_ms - 1;
    EXPECT_FALSE(are_over()) << "one was tried meanwhile";
    ++now_ms;
    EXPECT_TRUE(are_over());
}

}  // namespace
}  // namespace herald::api::serving
