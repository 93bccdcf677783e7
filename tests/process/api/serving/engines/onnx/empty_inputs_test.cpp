// Protects: inputs without elements are refused, by name, where ONNX Runtime would not write its output or
// not return; others are answered. A model whose runs do not return says so.
#include <gmock/gmock.h>

#include <chrono>

#include "api/serving/engines/onnx/model_operators.hpp"
#include "tests/support/onnx_inference.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/until.hpp"

namespace herald::test::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_type;
using testing::AllOf;
using testing::HasSubstr;

/// Every dimension has its own symbol, or the one given.
std::string free_value(std::string_view name, const std::vector<std::string>& symbols) {
    std::string dims;
    for (const auto& each : symbols) dims += chunk(1, chunk(2, each));
    return chunk(1, name) + chunk(2, chunk(1, number(1, float32) + chunk(2, dims)));
}

tensor ones(std::string name, const shape& dims) {
    std::int64_t count = 1;
    for (const auto dim : dims) count *= dim;
    return values(std::move(name), tensor_type::float32, dims,
                  std::vector<float>(static_cast<std::size_t>(count), 1.0F));
}

std::string joining(std::vector<std::string> nodes, const std::vector<std::string>& a,
                    const std::vector<std::string>& b) {
    return model(graph(nodes, {free_value("a", a), free_value("b", b)}, {free_value("y", a)},
                       {weight("one", float32, {1}, bytes_of({1.0F}))}));
}

void expect_refused(engines::tensor_model& of, const shape& a, const shape& b, const std::string& named) {
    const auto got = infer(of, {ones("a", a), ones("b", b)});
    ASSERT_FALSE(got) << "it was answered";
    EXPECT_EQ(got.error().code, error_code::invalid_argument);
    EXPECT_THAT(got.error().message, AllOf(HasSubstr("\"a\""), HasSubstr("\"b\""), HasSubstr(named)));
}

TEST(empty_inputs, that_are_joined_with_others_must_fit_them) {
    HERALD_NEEDS_ONNX();
    const auto axis = whole("axis", 1);
    const std::vector<std::vector<std::string>> ways{
        {node("Concat", {"a", "b"}, {"y"}, {axis})},
        {node("SequenceConstruct", {"a", "b"}, {"s"}), node("ConcatFromSequence", {"s"}, {"y"}, {axis})},
        {node("Relu", {"a"}, {"c"}), node("Identity", {"b"}, {"d"}),
         node("Concat", {"c", "d"}, {"y"}, {axis})},
        {node("Add", {"one", "a"}, {"c"}), node("Concat", {"c", "b"}, {"y"}, {axis})}};
    for (const auto& nodes : ways) {
        SCOPED_TRACE(nodes.size());
        const auto model = load(joining(nodes, {"n", "k"}, {"n2", "k2"}));
        ASSERT_TRUE(model);
        expect_refused(*model, {3, 1}, {0, 1}, "joins them along dimension 1");
        expect_refused(*model, {0, 1}, {3, 1}, "[3,1]");
        EXPECT_TRUE(infer(*model, {ones("a", {0, 1}), ones("b", {0, 1})}));
        const auto fits = infer(*model, {ones("a", {3, 1}), ones("b", {3, 0})});
        ASSERT_TRUE(fits) << fits.error().message;
        EXPECT_EQ(fits->front().shape, (shape{3, 1}));
    }
}

TEST(empty_inputs, of_dimensions_with_the_same_symbol_are_both_empty) {
    HERALD_NEEDS_ONNX();
    const auto turned = [](const std::string& from, const std::string& to) {
        return node("Transpose", {from}, {to});
    };
    const auto model =
        load(joining({turned("a", "a2"), turned("a2", "a3"), turned("b", "b2"), turned("b2", "b3"),
                      node("Concat", {"a3", "b3"}, {"y"}, {whole("axis", 1)})},
                     {"rows", "k"}, {"rows", "k2"}));
    ASSERT_TRUE(model);
    expect_refused(*model, {3, 1}, {0, 1}, "declares rows in both");
    EXPECT_TRUE(infer(*model, {ones("a", {0, 1}), ones("b", {0, 1})}));
    EXPECT_TRUE(infer(*model, {ones("a", {3, 1}), ones("b", {3, 0})}));
}

TEST(empty_inputs, an_empty_past_is_joined_along_its_own_dimension) {
    HERALD_NEEDS_ONNX();
    const auto model = load(joining({node("Concat", {"a", "b"}, {"y"}, {whole("axis", -2)})},
                                    {"batch", "heads", "past", "width"}, {"batch", "heads", "now", "width"}));
    ASSERT_TRUE(model);
    const auto got = infer(*model, {ones("a", {1, 2, 0, 4}), ones("b", {1, 2, 3, 4})});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->front().data, ones("y", {1, 2, 3, 4}).data);
    expect_refused(*model, {1, 1, 16, 4}, {1, 1, 500, 0}, "[1,1,500,0]");
}

TEST(empty_inputs, are_refused_as_weights_and_taken_beside_constant_ones) {
    HERALD_NEEDS_ONNX();
    const auto conv = node("Conv", {"x", "w"}, {"y"});
    const auto x = value("x", float32, {-1, 2, -2});
    const auto y = value("y", float32, {-1, 3, -2});
    const auto free_weights = load(model(graph({conv}, {x, free_value("w", {"o", "c", "k"})}, {y})));
    ASSERT_TRUE(free_weights);
    const auto refused = infer(*free_weights, {ones("x", {1, 2, 30}), ones("w", {3, 2, 0})}, in_ms(60'000));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("input \"w\""), HasSubstr("operator Conv")));
    const auto constant =
        load(model(graph({conv}, {x}, {y}, {weight("w", float32, {3, 2, 1}, ones("w", {3, 2, 1}).data)})));
    ASSERT_TRUE(constant);
    const auto none = infer(*constant, {ones("x", {0, 2, 30})});
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_EQ(none->front().shape, (shape{0, 3, 30}));
}

TEST(empty_inputs, operators_that_do_not_take_them_are_known_by_kind) {
    const auto named = [](const std::vector<std::string>& nodes) {
        return engines::onnx::operators_of(
            model(graph(nodes, {value("a", uint8, {-1, -1}), value("b", uint8, {-1, -1})}, {},
                        {weight("w", uint8, {1}, "x")})),
            engines::onnx::operators_without_empty_inputs());
    };
    for (const std::string op :
         {"MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "Conv", "ConvInteger"}) {
        EXPECT_EQ(named({node(op, {"a", "b"}, {"y"})}), "operator " + op);
        EXPECT_EQ(named({node(op, {"a", "w"}, {"y"})}), "");
        EXPECT_EQ(named({node("DequantizeLinear", {"w"}, {"c"}), node(op, {"a", "c"}, {"y"})}), "");
        EXPECT_EQ(named({node("Relu", {"b"}, {"c"}), node(op, {"a", "c"}, {"y"})}), "operator " + op);
    }
    for (const std::string op : {"QLinearMatMul", "QGemm", "QLinearConv"}) {
        EXPECT_EQ(named({node(op, {"a", "w", "w", "b"}, {"y"})}), "operator " + op);
        EXPECT_EQ(named({node(op, {"a", "w", "w", "w"}, {"y"})}), "");
    }
}

/// The runtime does not return from a kernel of extent 0, which is what is left if all is dropped.
std::string stuck_if_all_is_dropped() {
    return model(graph(
        {node("Not", {"dropped"}, {"kept"}), node("Compress", {"w", "kept"}, {"some"}, {whole("axis", 2)}),
         node("Conv", {"x", "some"}, {"y"})},
        {value("x", float32, {1, 2, 30}), value("dropped", boolean, {2})}, {value("y", float32, {1, 3, -1})},
        {weight("w", float32, {3, 2, 2}, ones("w", {3, 2, 2}).data)}));
}

TEST(empty_inputs, a_model_whose_runs_do_not_return_says_so_at_once) {
    HERALD_NEEDS_ONNX();
    if (is_sanitized) GTEST_SKIP() << "the threads that are lost would be leaks";
    engines::onnx::onnx_options options;
    options.library = HERALD_ONNXRUNTIME;
    options.late_ms = 50;
    const auto engine = engines::onnx::make_onnx_engine(options);
    ASSERT_TRUE(engine);
    const auto model = load_with(**engine, stuck_if_all_is_dropped())->tensors;
    const auto dropped = [](char each) {
        return std::vector<tensor>{ones("x", {1, 2, 30}),
                                   tensor{"dropped", tensor_type::boolean, {2}, std::string(2, each), {}}};
    };
    EXPECT_TRUE(infer(*model, dropped('\0')));
    for (int round = 0; round < 16; ++round) begin_inference(*model, dropped('\1'), in_ms(100));
    std::vector<std::future<response>> waiting;
    const auto says_so = [&] {
        waiting.push_back(begin_inference(*model, dropped('\0'), in_ms(60'000)));
        if (waiting.back().wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) return false;
        const auto got = waiting.back().get();
        waiting.pop_back();
        return !got && got.error().code == error_code::deadline_exceeded &&
               got.error().message.find("stuck on this node") != std::string::npos;
    };
    ASSERT_TRUE(eventually(says_so));
    EXPECT_FALSE(model->in_service());
    for (const auto& each : waiting)
        EXPECT_EQ(each.wait_for(std::chrono::seconds(60)), std::future_status::ready)
            << "what waited for a thread is answered, too";
}

}  // namespace
}  // namespace herald::test::onnx
