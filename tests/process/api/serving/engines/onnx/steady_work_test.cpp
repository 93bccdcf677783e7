// Protects: only models whose work follows from the shapes of their inputs run on the thread that asks.
#include "api/serving/engines/onnx/steady_work.hpp"

#include <gtest/gtest.h>

#include "tests/support/onnx_models.hpp"

namespace herald::test::onnx {
namespace {

using api::serving::engines::onnx::has_steady_work;

std::string with_nodes(const std::vector<std::string>& nodes) {
    return rows_of_four(nodes, {weight("sizes", int64, {2}, bytes_of<std::int64_t>({-1, 4}))});
}

TEST(steady_work, small_models_of_every_day_have_it) {
    EXPECT_TRUE(has_steady_work(tiny()));
    EXPECT_TRUE(has_steady_work(mlp()));
    EXPECT_TRUE(has_steady_work(gather()));
    EXPECT_TRUE(has_steady_work(with_nodes({node("TreeEnsembleRegressor", {"x"}, {"y"}, {}, "ai.onnx.ml")})));
    EXPECT_TRUE(has_steady_work(with_nodes({node("LinearClassifier", {"x"}, {"l", "y"}, {}, "ai.onnx.ml")})));
    EXPECT_TRUE(has_steady_work(with_nodes({node("Reshape", {"x", "sizes"}, {"y"})})));
}

TEST(steady_work, sizes_that_are_made_of_shapes_are_as_good_as_constants) {
    EXPECT_TRUE(has_steady_work(with_nodes(
        {node("Shape", {"x"}, {"s"}), node("Identity", {"s"}, {"t"}), node("Reshape", {"x", "t"}, {"y"})})));
    EXPECT_FALSE(has_steady_work(
        with_nodes({node("Cast", {"x"}, {"s"}, {whole("to", 7)}), node("Reshape", {"x", "s"}, {"y"})})));
    EXPECT_FALSE(has_steady_work(
        with_nodes({node("Cast", {"x"}, {"s"}, {whole("to", 7)}), node("ConstantOfShape", {"s"}, {"y"})})));
}

// Protobuf merges or passes over what follows, so what runs is not what was looked at.
TEST(steady_work, models_that_can_be_read_in_two_ways_do_not_have_it) {
    EXPECT_FALSE(has_steady_work(tiny() + tiny())) << "two graphs";
    const std::string relu = node("Relu", {"x"}, {"y"});
    ASSERT_TRUE(has_steady_work(with_nodes({relu})));
    EXPECT_FALSE(has_steady_work(with_nodes({relu + chunk(4, "Relu")}))) << "two operators";
    EXPECT_FALSE(has_steady_work(with_nodes({relu + chunk(7, "") + chunk(7, "")}))) << "two domains";
    const std::string four_bytes_of_4 = varint(4 << 3 | 5);
    EXPECT_FALSE(has_steady_work(with_nodes({chunk(1, "x") + chunk(2, "y") + four_bytes_of_4 + "Relu"})))
        << "an operator in another form";
    EXPECT_FALSE(has_steady_work(with_nodes({relu + four_bytes_of_4 + "Loop"}))) << "one in each form";
}

TEST(steady_work, operators_whose_work_depends_on_values_do_not_have_it) {
    for (const std::string op : {"If",
                                 "AffineGrid",
                                 "HannWindow",
                                 "HammingWindow",
                                 "BlackmanWindow",
                                 "MelWeightMatrix",
                                 "DFT",
                                 "MaxUnpool",
                                 "Loop",
                                 "Scan",
                                 "NonZero",
                                 "Compress",
                                 "Unique",
                                 "NonMaxSuppression",
                                 "Range",
                                 "Expand",
                                 "Tile",
                                 "Pad",
                                 "RandomNormal",
                                 "SomethingNew"})
        EXPECT_FALSE(has_steady_work(with_nodes({node(op, {"x", "x"}, {"y"})}))) << op;
    EXPECT_FALSE(has_steady_work(with_nodes({node("GreedySearch", {"x"}, {"y"}, {}, "com.microsoft"),
                                             node("Sampling", {"x"}, {"y"}, {}, "com.microsoft")})));
    EXPECT_FALSE(has_steady_work(with_nodes({node("Add", {"x", "x"}, {"y"}, {}, "org.example")})));
}

TEST(steady_work, inner_graphs_and_functions_do_not_have_it) {
    EXPECT_FALSE(has_steady_work(slow()));
    EXPECT_FALSE(has_steady_work(with_nodes({node("Add", {"x", "x"}, {"y"}, {inner("body", "")})})));
    EXPECT_FALSE(has_steady_work(tiny() + chunk(25, chunk(1, "Add"))));
}

TEST(steady_work, what_cannot_be_read_does_not_have_it) {
    EXPECT_FALSE(has_steady_work(""));
    EXPECT_FALSE(has_steady_work("no model"));
    EXPECT_FALSE(has_steady_work(tiny().substr(0, 60)));
}

}  // namespace
}  // namespace herald::test::onnx
