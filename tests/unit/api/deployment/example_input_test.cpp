// Protects the body in an endpoint's printed call: the model takes it.
#include "api/deployment/example_input.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using api::deployment::example_input;
using schemas::tensor_type;

TEST(example_input, has_zeros_for_each_input_and_one_for_each_free_length) {
    EXPECT_EQ(example_input({{{"x", tensor_type::float32, {-1, 2}}}, {}}), R"({"x":[[0,0]]})");
    EXPECT_EQ(example_input({{{"a \"b\"", tensor_type::text, {-1}}, {"flag", tensor_type::boolean, {}}}, {}}),
              R"({"a \"b\"":[""],"flag":false})");
    EXPECT_EQ(example_input({{{"none", tensor_type::int64, {0, 3}}}, {}}), R"({"none":[]})");
}

TEST(example_input, only_describes_what_is_too_long_to_be_read) {
    EXPECT_EQ(example_input({{{"image", tensor_type::float32, {-1, 3, 224, 224}}}, {}}),
              R"({"image":<FP32 [1,3,224,224]>})");
}

TEST(example_input, is_empty_for_a_model_that_herald_does_not_know) { EXPECT_EQ(example_input({}), ""); }

}  // namespace
}  // namespace herald::test
