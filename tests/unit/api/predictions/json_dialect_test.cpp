// Protects predictions in plain JSON: three forms of the same request, tables, and refusals that name the
// input, what is expected and what was found (wire.md §6).
#include "api/predictions/json_dialect.hpp"

#include "api/predictions/prediction_bodies.hpp"
#include "tests/unit/api/predictions/tensors_of_tests.hpp"

namespace herald::test {
namespace {

using api::predictions::inputs_of_json;
using api::predictions::inputs_of_split;
using api::predictions::json_of_outputs;
using api::predictions::split_of_outputs;
using api::predictions::tensors;
using schemas::model_signature;

/// Two inputs of so many rows: "a" INT32 [-1,2], "b" FP32 [-1].
model_signature two_inputs() {
    return {{{"a", tensor_type::int32, {-1, 2}}, {"b", tensor_type::float32, {-1}}}, {}};
}
model_signature only(tensor_type type, std::vector<std::int64_t> shape) {
    return {{{"x", type, std::move(shape)}}, {}};
}

tensors expected_of_two_rows() {
    return {tensor_of<std::int32_t>("a", tensor_type::int32, {2, 2}, {1, 2, 3, 4}),
            tensor_of<float>("b", tensor_type::float32, {2}, {0.5f, 1.5f})};
}

void expect_inputs(std::string_view body, const model_signature& signature, const tensors& expected) {
    const auto got = inputs_of_json(body, signature);
    ASSERT_TRUE(got) << body << ": " << got.error().message;
    EXPECT_TRUE(*got == expected) << body;
}

void expect_shape(std::string_view body, const model_signature& signature,
                  const std::vector<std::int64_t>& shape) {
    const auto got = inputs_of_json(body, signature);
    ASSERT_TRUE(got) << body << ": " << got.error().message;
    EXPECT_EQ(got->at(0).shape, shape) << body;
}

void expect_not_taken(std::string_view body, const model_signature& signature,
                      const std::vector<std::string>& texts) {
    expect_refused(inputs_of_json(body, signature), error_code::invalid_argument, texts, std::string(body));
}

// ---- requests

TEST(json_request, by_names_gives_the_inputs_in_the_order_of_the_signature) {
    expect_inputs(R"({"b":[0.5,1.5],"a":[[1,2],[3,4]]})", two_inputs(), expected_of_two_rows());
}

TEST(json_request, of_row_objects_is_the_same_one) {
    expect_inputs(R"([{"a":[1,2],"b":0.5},{"b":1.5,"a":[3,4]}])", two_inputs(), expected_of_two_rows());
}

TEST(json_request, of_row_objects_has_arrays_where_the_second_dimension_is_free_if_they_agree) {
    const auto matrix = only(tensor_type::float32, {-1, -1});
    expect_inputs(R"([{"x":[1,2]},{"x":[3,4]}])", matrix,
                  {tensor_of<float>("x", tensor_type::float32, {2, 2}, {1, 2, 3, 4})});
    expect_shape(R"([{"x":1},{"x":3}])", matrix, {2, 1});
    expect_shape(R"([{"x":[1]},{"x":[3]}])", only(tensor_type::float32, {-1, 1}), {2, 1});
    expect_not_taken(R"([{"x":[1,2]},{"x":[3]}])", matrix,
                     {"\"x\", FP32 [-1,-1]", "rows 0 and 1", "all rows must have the same"});
    expect_not_taken(R"([{"x":[1,2]},{"x":[[3,4]]}])", matrix,
                     {"FP32 [-1,-1], a row of it FP32 [-1]", "deeper"});
    expect_not_taken(R"([{"x":[1,2]},{"x":3}])", matrix, {"FP32 [-1,-1], a row of it FP32 [-1]"});
    const auto split = inputs_of_split(R"({"columns":["x"],"data":[[[1,2]],[[3,4]]]})", matrix);
    ASSERT_TRUE(split) << split.error().message;
    EXPECT_EQ(split->inputs[0].shape, (std::vector<std::int64_t>{2, 2}));
}

TEST(json_request, of_a_model_without_inputs_is_the_empty_object) {
    expect_inputs("{}", {}, {});
    expect_not_taken("[1]", {}, {"the model takes no inputs; the body must be {}"});
    expect_not_taken("3", {}, {"the model takes no inputs; the body must be {}"});
    expect_not_taken(R"({"x":1})", {}, {"\"x\" is no input of the model; it takes none"});
}

TEST(json_request, of_an_only_input_may_be_its_bare_value) {
    const auto x = [](std::vector<std::int64_t> shape, const std::vector<std::int64_t>& numbers) {
        return tensors{tensor_of("x", tensor_type::int64, std::move(shape), numbers)};
    };
    for (const char* const body : {"[[1,2],[3,4]]", R"({"x":[[1,2],[3,4]]})", R"([{"x":[1,2]},{"x":[3,4]}])",
                                   " [ [1.0 , 2] ,\n[3,4.0]] "})
        expect_inputs(body, only(tensor_type::int64, {-1, 2}), x({2, 2}, {1, 2, 3, 4}));
    expect_inputs("7", only(tensor_type::int64, {}), x({}, {7}));
    expect_inputs("[7]", only(tensor_type::int64, {-1}), x({1}, {7}));
    expect_inputs("[[[1],[2]]]", only(tensor_type::int64, {1, 2, 1}), x({1, 2, 1}, {1, 2}));
    expect_inputs(R"(["a",""])", only(tensor_type::text, {2}), {texts_of("x", {2}, {"a", ""})});
}

TEST(json_request, of_rows_with_one_value_takes_it_bare) {
    const tensors column{tensor_of<float>("x", tensor_type::float32, {2, 1}, {1.0f, 2.0f})};
    for (const std::int64_t width : {1, -1})
        expect_inputs(R"([{"x":1},{"x":2}])", only(tensor_type::float32, {-1, width}), column);
    const tensors line{tensor_of<float>("x", tensor_type::float32, {2}, {1.0f, 2.0f})};
    expect_inputs(R"([{"x":1},{"x":2}])", only(tensor_type::float32, {-1}), line);
}

TEST(json_request, has_the_lengths_that_the_declared_shape_says_where_json_cannot_tell) {
    expect_shape("[]", only(tensor_type::float32, {-1}), {0});
    expect_shape("[]", only(tensor_type::float32, {0}), {0});
    expect_shape("[]", only(tensor_type::float32, {-1, 3}), {0, 3});
    expect_shape("[]", only(tensor_type::float32, {0, 3, 4}), {0, 3, 4});
    expect_shape("[]", only(tensor_type::float32, {-1, -1, 4}), {0, 0, 4});
    expect_shape("[[],[]]", only(tensor_type::float32, {-1, -1, 4}), {2, 0, 4});
    expect_shape("[[],[]]", only(tensor_type::text, {2, 0}), {2, 0});
    expect_not_taken("[]", only(tensor_type::float32, {2}), {"\"x\"", "FP32 [2]", "[0]"});
    expect_not_taken("[[]]", only(tensor_type::float32, {-1, 3}), {"\"x\"", "FP32 [-1,3]", "[1,0]"});
}

TEST(json_request, takes_nan_and_infinities_as_words) {
    const auto got = inputs_of_json("[NaN,Infinity,-Infinity]", only(tensor_type::float64, {3}));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*json_of_outputs(*got), "[NaN,Infinity,-Infinity]");
}

TEST(json_request, of_other_shapes_is_refused_with_what_is_expected_and_found) {
    const model_signature x = only(tensor_type::int32, {-1, 2});
    expect_not_taken("[[1,2,3]]", x, {"\"x\"", "INT32 [-1,2]", "[1,3]"});
    expect_not_taken("[1,2]", x, {"\"x\"", "INT32 [-1,2]", "a number", "depth 1"});
    expect_not_taken("7", x, {"\"x\"", "INT32 [-1,2]", "a number", "depth 0"});
    expect_not_taken("null", x, {"\"x\"", "null"});
    expect_not_taken("[[[1],[2]]]", x, {"\"x\"", "INT32 [-1,2]", "deeper"});
    expect_not_taken("[[1,2],[3]]", x, {"\"x\"", "different lengths", "2 and 1", "depth 1"});
    expect_not_taken("[[1,2],3]", x, {"\"x\"", "a number", "depth 1"});
    expect_not_taken("[[1,\"2\"]]", x, {"\"x\"", "\"2\"", "INT32"});
    expect_not_taken("[7]", only(tensor_type::int32, {}), {"\"x\"", "INT32 []", "deeper"});
}

TEST(json_request, with_wrong_names_is_refused_with_the_right_ones) {
    expect_not_taken(R"({"a":[[1,2]]})", two_inputs(), {"\"b\"", "FP32 [-1]", "missing"});
    expect_not_taken(R"({"a":[[1,2]],"b":[1],"c":1})", two_inputs(), {"\"c\"", "\"a\", \"b\""});
    expect_not_taken(R"({"A":[[1,2]],"b":[1]})", two_inputs(), {"\"A\""});
    expect_not_taken("{}", two_inputs(), {"\"a\"", "missing"});
    expect_not_taken("[[1,2]]", two_inputs(), {"2 inputs", "\"a\", \"b\""});
    expect_not_taken("[]", two_inputs(), {"2 inputs"});
    expect_not_taken("7", two_inputs(), {"2 inputs"});
    expect_not_taken(R"({"a":[[1,2]],"b":[1],"a":[[1,2]]})", two_inputs(), {"a is there twice"});
}

TEST(json_request, of_rows_that_differ_is_refused_with_the_row) {
    expect_not_taken(R"([{"a":[1,2],"b":1},7])", two_inputs(), {"row 1", "a number"});
    expect_not_taken(R"([{"a":[1,2],"b":1},{"a":[1,2]}])", two_inputs(), {"row 1", "\"b\""});
    expect_not_taken(R"([{"a":[1,2],"b":1,"c":0}])", two_inputs(), {"\"c\""});
    expect_not_taken(R"([{"a":[1,2,3],"b":1}])", two_inputs(), {"\"a\"", "[1,3]"});
    expect_not_taken(R"([{"x":[1,2]},{"x":[1]}])", only(tensor_type::int32, {-1, -1, -1}), {"\"x\""});
    expect_not_taken(R"([{"x":[1,2]},{"x":[1]}])", only(tensor_type::int32, {-1, -1}), {"\"x\""});
    expect_not_taken(R"([{"x":1}])", only(tensor_type::int32, {}), {"\"x\"", "scalar"});
    expect_not_taken(R"([{"x":1},{"x":2}])", only(tensor_type::int32, {1}), {"\"x\"", "INT32 [1]", "[2]"});
}

TEST(json_request, that_is_no_json_is_refused) {
    for (const char* const body : {"", " ", "[", "[1,]", "{\"x\":1", "[1] 2", "[01]", "[1.]", "nan", "\xff",
                                   "[-NaN]", "[\"\\ud800\"]", "['a']"})
        expect_not_taken(body, only(tensor_type::int32, {-1}), {});
    expect_not_taken(std::string(5'000, '['), only(tensor_type::int32, {-1}), {});
}

// ---- answers

TEST(json_response, of_an_only_output_is_its_bare_value) {
    const auto json = [](tensor value) { return *json_of_outputs({std::move(value)}); };
    EXPECT_EQ(json(tensor_of<std::int32_t>("y", tensor_type::int32, {2, 2}, {1, 2, 3, -4})),
              "[[1,2],[3,-4]]");
    EXPECT_EQ(json(tensor_of<float>("y", tensor_type::float32, {}, {0.5f})), "0.5");
    EXPECT_EQ(json(tensor_of<float>("y", tensor_type::float32, {0, 3}, {})), "[]");
    EXPECT_EQ(json(tensor_of<float>("y", tensor_type::float32, {2, 0}, {})), "[[],[]]");
    EXPECT_EQ(json(tensor{"y", tensor_type::boolean, {2}, std::string("\1\0", 2), {}}), "[true,false]");
    EXPECT_EQ(json(texts_of("y", {1}, {"\"ü\n"})), "[\"\\\"ü\\n\"]");
}

TEST(json_response, of_several_outputs_names_each) {
    EXPECT_EQ(*json_of_outputs({tensor_of<std::int64_t>("s\"um", tensor_type::int64, {1}, {3}),
                                tensor_of<double>("mean", tensor_type::float64, {}, {1.5})}),
              R"({"s\"um":[3],"mean":1.5})");
}

TEST(json_response, has_null_for_nan_and_infinities_where_a_strict_reader_asks) {
    using api::predictions::has_not_finite;
    using api::predictions::not_finite;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const tensor wide = tensor_of<double>("y", tensor_type::float64, {4, 1}, {nan, infinity, -infinity, 1.5});
    const tensor half =
        tensor_of<std::uint16_t>("h", tensor_type::float16, {4}, {0x7E00, 0x7C00, 0xFC00, 0x3C00});
    const tensor upper =
        tensor_of<std::uint16_t>("b", tensor_type::bfloat16, {4}, {0x7FC0, 0x7F80, 0xFF80, 0x3F80});
    EXPECT_EQ(*json_of_outputs({wide}), "[[NaN],[Infinity],[-Infinity],[1.5]]");
    EXPECT_EQ(*json_of_outputs({wide}, not_finite::as_null), "[[null],[null],[null],[1.5]]");
    EXPECT_EQ(*json_of_outputs({half, upper}, not_finite::as_null),
              R"({"h":[null,null,null,1],"b":[null,null,null,1]})");
    EXPECT_EQ(*split_of_outputs({wide}, nullptr, not_finite::as_null),
              R"({"index":[0,1,2,3],"columns":["y"],"data":[[null],[null],[null],[1.5]]})");
    for (const tensor& each : {wide, half, upper}) EXPECT_TRUE(has_not_finite(each)) << each.name;
    const float most = std::numeric_limits<float>::max();
    EXPECT_FALSE(has_not_finite(tensor_of<float>("y", tensor_type::float32, {3}, {most, -most, 0})));
    EXPECT_FALSE(has_not_finite(tensor_of<std::int32_t>("y", tensor_type::int32, {1}, {-1})));
    EXPECT_FALSE(has_not_finite(tensor_of<std::uint16_t>("h", tensor_type::float16, {1}, {0x7BFF})));
}

TEST(json_response, is_strict_for_whom_asks_among_other_media_types) {
    using api::predictions::accepts_strict_json;
    for (const char* const asked :
         {"application/json; strict", "application/json;strict=true", "Application/JSON ; q=0.5; STRICT",
          "text/html, application/json; strict, */*"})
        EXPECT_TRUE(accepts_strict_json(asked)) << asked;
    for (const char* const other : {"", "*/*", "application/json", "strict", "text/plain; strict",
                                    "application/json; strict=false", "application/json, strict", ";,;,"})
        EXPECT_FALSE(accepts_strict_json(other)) << other;
}

TEST(json_response, of_bytes_that_are_no_text_is_none) {
    expect_refused(json_of_outputs({texts_of("y", {1}, {"\xff"})}), error_code::failed_precondition,
                   {"\"y\""});
}

TEST(json_response, of_countless_empty_arrays_is_none) {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1'000'000'000'000, 0},
                                                   {2, 1'000'000'000'000, 0},
                                                   {1LL << 40, 1LL << 40, 0},
                                                   {100'000, 100'000, 0, 5}}) {
        const auto empty = tensor_of<float>("y", tensor_type::float32, shape, {});
        expect_refused(json_of_outputs({empty}), error_code::failed_precondition, {"33554432 bytes"});
        expect_refused(json_of_outputs({empty, empty}), error_code::failed_precondition, {"33554432 bytes"});
    }
    EXPECT_EQ(*json_of_outputs({tensor_of<float>("y", tensor_type::float32, {0, 1LL << 40}, {})}), "[]");
}

// ---- tables

void expect_no_table(std::string_view body, const model_signature& signature,
                     const std::vector<std::string>& texts) {
    expect_refused(inputs_of_split(body, signature), error_code::invalid_argument, texts, std::string(body));
}

TEST(table_request, has_a_column_for_each_input) {
    const auto got = inputs_of_split(
        R"({"index":["r",7],"columns":["b","a"],"data":[[0.5,[1,2]],[1.5,[3,4]]]})", two_inputs());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got->inputs == expected_of_two_rows());
    EXPECT_EQ(schemas::to_json_text(got->index), R"(["r",7])");
}

TEST(table_request, of_an_only_matrix_has_all_columns_for_it) {
    for (const char* const columns : {R"(["p","q"])", "[0,1]"}) {
        const auto got =
            inputs_of_split(R"({"columns":)" + std::string(columns) + R"(,"data":[[1,2],[3,4]]})",
                            only(tensor_type::int32, {-1, 2}));
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_TRUE(got->index.is_null());
        EXPECT_TRUE(got->inputs.at(0) ==
                    tensor_of<std::int32_t>("x", tensor_type::int32, {2, 2}, {1, 2, 3, 4}));
    }
    const auto named =
        inputs_of_split(R"({"columns":["x"],"data":[[[1,2]]]})", only(tensor_type::int32, {-1, 2}));
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->inputs.at(0).shape, (std::vector<std::int64_t>{1, 2}));
}

TEST(table_request, without_rows_is_one) {
    const auto got = inputs_of_split(R"({"index":[],"columns":["a","b"],"data":[]})", two_inputs());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->inputs.at(0).shape, (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(got->inputs.at(1).shape, (std::vector<std::int64_t>{0}));
}

TEST(table_request, that_is_no_table_is_refused) {
    for (const char* const body : {"[]", "7", "{}", R"({"columns":["a"]})", R"({"data":[]})",
                                   R"({"columns":{},"data":[]})", R"({"columns":[],"data":7})"})
        expect_no_table(body, two_inputs(), {"split", "columns and data"});
    expect_no_table(R"({"columns":["a","b"],"data":[[[1,2],1],[1]]})", two_inputs(), {"row 1", "array of 2"});
    expect_no_table(R"({"columns":["a","b"],"data":[7]})", two_inputs(), {"row 0"});
    expect_no_table(R"({"index":[1],"columns":["a","b"],"data":[]})", two_inputs(), {"index", "array of 0"});
    expect_no_table(R"({"index":7,"columns":["a","b"],"data":[]})", two_inputs(), {"index"});
    expect_no_table(R"({"columns":["a","c"],"data":[]})", two_inputs(), {"\"c\"", "\"a\", \"b\""});
    expect_no_table(R"({"columns":["a"],"data":[]})", two_inputs(), {"\"b\"", "missing"});
    expect_no_table(R"({"columns":["a","b","a"],"data":[]})", two_inputs(), {"\"a\"", "twice"});
    expect_no_table(R"({"columns":["a","b"],"data":[[[1,2,3],1]]})", two_inputs(), {"\"a\"", "[1,3]"});
}

TEST(table_request, has_null_for_nan_among_numbers_that_have_it) {
    const auto by_names =
        inputs_of_split(R"({"columns":["a","b"],"data":[[[1,2],null],[[3,4],1.5]]})", two_inputs());
    ASSERT_TRUE(by_names) << by_names.error().message;
    EXPECT_EQ(*json_of_outputs({by_names->inputs.at(1)}), "[NaN,1.5]");
    for (const tensor_type type :
         {tensor_type::float16, tensor_type::bfloat16, tensor_type::float32, tensor_type::float64}) {
        const auto matrix =
            inputs_of_split(R"({"columns":[0,1],"data":[[1,null],[null,2]]})", only(type, {-1, 2}));
        ASSERT_TRUE(matrix) << matrix.error().message;
        EXPECT_EQ(*json_of_outputs(matrix->inputs), "[[1,NaN],[NaN,2]]");
    }
    expect_no_table(R"({"columns":["a","b"],"data":[[[1,null],1]]})", two_inputs(), {"\"a\"", "null"});
    expect_no_table(R"({"columns":["x"],"data":[[null]]})", only(tensor_type::text, {-1}), {"null"});
    expect_no_table(R"({"columns":["x"],"data":[[null]]})", only(tensor_type::boolean, {-1}), {"null"});
    expect_not_taken("[null]", only(tensor_type::float32, {-1}), {"\"x\"", "null"});
}

TEST(table_request, of_a_model_whose_outputs_are_never_a_table_is_refused_before_it_runs) {
    model_signature signature = two_inputs();
    const auto refuse = [&](std::vector<tensor_spec> outputs, const std::vector<std::string>& texts) {
        signature.outputs = std::move(outputs);
        expect_refused(inputs_of_split(R"({"columns":["a","b"],"data":[[[1,2],1]]})", signature),
                       error_code::failed_precondition, texts);
    };
    refuse({{"s", tensor_type::float32, {}}}, {"\"s\"", "FP32 []", "no table"});
    refuse({{"s", tensor_type::float32, {1}}, {"t", tensor_type::float32, {2}}}, {"\"t\"", "FP32 [2]"});
    signature.outputs = {{"s", tensor_type::float32, {-1}}, {"t", tensor_type::float32, {2}}};
    EXPECT_TRUE(inputs_of_split(R"({"columns":["a","b"],"data":[[[1,2],1]]})", signature));
}

TEST(table_request, of_a_model_with_an_output_of_unknown_rank_is_taken) {
    model_signature signature = only(tensor_type::float32, {-1});
    signature.outputs = {{"y", tensor_type::float32, {schemas::unknown_rank}}};
    EXPECT_TRUE(inputs_of_split(R"({"columns":["x"],"data":[[1]]})", signature));
}

TEST(table_response, has_a_column_for_each_value_of_a_row) {
    const tensors outputs{tensor_of<std::int32_t>("a", tensor_type::int32, {2, 2}, {1, 2, 3, 4}),
                          tensor_of<float>("b", tensor_type::float32, {2}, {0.5f, 1.5f}),
                          tensor_of<float>("c", tensor_type::float32, {2, 1}, {5, 6})};
    EXPECT_EQ(*split_of_outputs(outputs, nullptr),
              R"({"index":[0,1],"columns":["a_0","a_1","b","c"],"data":[[1,2,0.5,5],[3,4,1.5,6]]})");
    const schemas::json_value index(
        schemas::json_array{schemas::json_value("r"), schemas::json_value(nullptr)});
    EXPECT_THAT(*split_of_outputs(outputs, index), ::testing::HasSubstr(R"("index":["r",null])"));
}

TEST(table_response, without_rows_names_the_columns) {
    EXPECT_EQ(*split_of_outputs({tensor_of<float>("b", tensor_type::float32, {0}, {})}, nullptr),
              R"({"index":[],"columns":["b"],"data":[]})");
}

TEST(table_response, of_outputs_that_have_no_such_rows_is_none) {
    const auto one = tensor_of<float>("b", tensor_type::float32, {1}, {1});
    const auto two = tensor_of<float>("c", tensor_type::float32, {2}, {1, 2});
    const auto scalar = tensor_of<float>("d", tensor_type::float32, {}, {1});
    expect_refused(split_of_outputs({one, two}, nullptr), error_code::failed_precondition,
                   {"\"c\"", "FP32 [2]", "no table"});
    expect_refused(split_of_outputs({scalar}, nullptr), error_code::failed_precondition, {"\"d\""});
}

TEST(table_response, of_countless_rows_or_columns_is_none) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{1'000'000'000'000, 0}, {1LL << 40, 1LL << 40, 0}})
        expect_refused(split_of_outputs({tensor_of<float>("y", tensor_type::float32, shape, {})}, nullptr),
                       error_code::failed_precondition, {"33554432 bytes"});
    const std::int64_t many = 10'000'000;
    const tensor wide{
        "y", tensor_type::boolean, {1, many}, std::string(static_cast<std::size_t>(many), '\0'), {}};
    expect_refused(split_of_outputs({wide}, nullptr), error_code::failed_precondition, {"33554432 bytes"});
    EXPECT_EQ(*split_of_outputs({tensor_of<float>("y", tensor_type::float32, {2, 0}, {})}, nullptr),
              R"({"index":[0,1],"columns":[],"data":[[],[]]})");
}

}  // namespace
}  // namespace herald::test
