// Protects the Open Inference Protocol: the same tensors in JSON and in binary, and refusals that name the
// tensor, what is expected and what was found (wire.md §6).
#include "api/predictions/v2_dialect.hpp"

#include "tests/unit/api/predictions/tensors_of_tests.hpp"

namespace herald::test {
namespace {

using api::predictions::request_of_v2;
using api::predictions::tensors;
using api::predictions::v2_of_outputs;
using api::predictions::v2_request;
using schemas::model_signature;
using namespace std::string_literals;

model_signature two_inputs() {
    return {{{"a", tensor_type::int32, {-1, 2}}, {"b", tensor_type::text, {-1}}},
            {{"s", tensor_type::int32, {-1, 2}}, {"t", tensor_type::text, {-1}}}};
}
model_signature only(tensor_type type, std::vector<std::int64_t> shape) {
    return {{{"x", type, std::move(shape)}}, {}};
}
tensors expected() {
    return {tensor_of<std::int32_t>("a", tensor_type::int32, {2, 2}, {1, 2, 3, 4}),
            texts_of("b", {2}, {"ü", ""})};
}

/// "x" as the JSON part says, with these bytes behind it.
result<v2_request> asked(const model_signature& signature, const std::string& members,
                         const std::string& binary = {}) {
    const std::string head = R"({"inputs":[{"name":"x",)" + members + "}]}";
    return request_of_v2(head + binary, head.size(), signature);
}

std::string binary_of(tensor_type type, const std::string& shape, std::size_t bytes) {
    return R"("datatype":")" + std::string(name_of(type)) + R"(","shape":)" + shape +
           R"(,"parameters":{"binary_data_size":)" + std::to_string(bytes) + "}";
}

void expect_not_taken(const result<v2_request>& got, const std::vector<std::string>& texts,
                      const std::string& where = {}) {
    expect_refused(got, error_code::invalid_argument, texts, where);
}

const std::string a_in_json = R"({"name":"a","datatype":"INT32","shape":[2,2],"data":[1,2,3,4]})";
const std::string b_in_json = R"({"name":"b","datatype":"BYTES","shape":[2],"data":["ü",""]})";
const std::string texts_in_binary("\x02\0\0\0\xc3\xbc\0\0\0\0", 10);

TEST(v2_metadata, says_no_shape_of_an_output_of_unknown_rank) {
    const model_signature signature{
        {}, {{"y", tensor_type::float32, {schemas::unknown_rank}}, {"z", tensor_type::float32, {}}}};
    EXPECT_THAT(
        api::predictions::v2_metadata("m", "1", signature, "onnx"),
        testing::HasSubstr(
            R"("outputs":[{"name":"y","datatype":"FP32"},{"name":"z","datatype":"FP32","shape":[]}])"));
}

TEST(v2_request, that_is_refused_is_told_what_would_be_right) {
    const auto of = [](const std::string& text) { return request_of_v2(text, {}, two_inputs()); };
    expect_not_taken(of(R"({"inputs":[{"name":"z","datatype":"INT32","shape":[0],"data":[]}]})"),
                     {R"("z" is not an input of the model; it has "a", "b")"});
    expect_not_taken(of(R"({"inputs":[)" + a_in_json + "," + b_in_json +
                        R"(],"outputs":[{"name":"s","parameters":{"classification":1}}]})"),
                     {"classification", "binary_data is"});
    expect_not_taken(of(R"({"inputs":{}})"), {"inputs is an object; it must be an array of tensors"});
    expect_not_taken(of(R"({})"), {"inputs is missing; it must be an array of tensors"});
    expect_not_taken(of(R"({"inputs":[{"name":5}]})"),
                     {"each member of inputs must be an object with a name"});
    expect_not_taken(
        of(R"({"inputs":[{"name":"a","datatype":"INT32","shape":[1],"parameters":{"shared_memory_region":"r"}}]})"),
        {"shared_memory_region of input \"a\" is not supported; send data, or binary_data_size"});
    const std::string large = "[4294967296,4294967296,4294967296]";
    const auto wide = only(tensor_type::int32, {-1, -1, -1});
    expect_not_taken(asked(wide, R"("datatype":"INT32","shape":)" + large + R"(,"data":[1])"),
                     {"must have more elements than can be counted; found 1"});
    expect_not_taken(asked(wide, binary_of(tensor_type::int32, large, 4), "1234"),
                     {"must have more elements than can be counted of 4 bytes"});
}

TEST(v2_request, in_json_gives_the_inputs_in_the_order_of_the_signature) {
    for (const std::string& a :
         {a_in_json,
          std::string(R"({"name":"a","datatype":"INT32","shape":[2,2],"data":[[1,2.0],[3,4]]})")}) {
        const auto got =
            request_of_v2(R"({"id":"7","inputs":[)" + b_in_json + "," + a + "]}", {}, two_inputs());
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_TRUE(got->inputs == expected());
        EXPECT_EQ(got->id, "7");
        EXPECT_EQ(got->outputs, (std::vector<std::uint32_t>{0, 1}));
        EXPECT_EQ(got->is_binary, (std::vector<bool>{false, false}));
    }
}

TEST(v2_request, in_binary_gives_the_same_inputs) {
    const std::string a =
        R"({"name":"a","datatype":"INT32","shape":[2,2],"parameters":{"binary_data_size":16}})";
    const std::string b =
        R"({"name":"b","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":10}})";
    const std::string numbers = bytes_of_all<std::int32_t>({1, 2, 3, 4});
    for (const bool is_a_first : {true, false}) {
        const std::string head = R"({"inputs":[)" + (is_a_first ? a + "," + b : b + "," + a) + "]}";
        const std::string rest = is_a_first ? numbers + texts_in_binary : texts_in_binary + numbers;
        const auto got = request_of_v2(head + rest, head.size(), two_inputs());
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_TRUE(got->inputs == expected());
    }
    const std::string mixed = R"({"inputs":[)" + a_in_json + "," + b + "]}";
    const auto got = request_of_v2(mixed + texts_in_binary, mixed.size(), two_inputs());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got->inputs == expected());
}

TEST(v2_request, in_binary_takes_each_type_by_its_width) {
    for (const auto& each : schemas::enum_names<tensor_type>) {
        const std::size_t width = schemas::bytes_of(each.value);
        if (width == 0) continue;
        const model_signature x = only(each.value, {-1});
        const std::string three(3 * width, '\1');
        const auto got = asked(x, binary_of(each.value, "[3]", three.size()), three);
        ASSERT_TRUE(got) << each.name << ": " << got.error().message;
        EXPECT_EQ(got->inputs.at(0).data, three) << each.name;
        for (const std::size_t bytes : {3 * width - 1, 3 * width + 1, 2 * width, std::size_t{0}})
            expect_not_taken(asked(x, binary_of(each.value, "[3]", bytes), std::string(bytes, '\1')),
                             {"\"x\"", "3 elements", std::to_string(bytes) + " bytes"},
                             std::string(each.name));
    }
    EXPECT_TRUE(asked(only(tensor_type::float32, {}), binary_of(tensor_type::float32, "[]", 4), "\0\0\0\0"s));
    EXPECT_TRUE(asked(only(tensor_type::float32, {-1}), binary_of(tensor_type::float32, "[0]", 0)));
    expect_not_taken(
        asked(only(tensor_type::boolean, {2}), binary_of(tensor_type::boolean, "[2]", 2), "\1\2"),
        {"\"x\"", "neither 0 nor 1"});
}

TEST(v2_request, with_wrong_lengths_is_refused) {
    const model_signature x = only(tensor_type::uint8, {-1});
    const std::string head = R"({"inputs":[{"name":"x",)" + binary_of(tensor_type::uint8, "[2]", 2) + "}]}";
    const auto with = [&](const std::string& rest, std::optional<std::size_t> header) {
        return request_of_v2(head + rest, header, x);
    };
    EXPECT_TRUE(with("ab", head.size()));
    expect_not_taken(with("a", head.size()), {"\"x\"", "binary_data_size 2", "1 bytes left"});
    expect_not_taken(with("abc", head.size()), {"1 bytes", "no binary_data_size"});
    expect_not_taken(with("", head.size() + 1),
                     {std::to_string(head.size() + 1), std::to_string(head.size()) + " bytes"});
    expect_not_taken(with("ab", head.size() - 1), {});
    expect_not_taken(with("ab", head.size() + 2), {});
    expect_not_taken(with("ab", 0), {});
    expect_not_taken(with("ab", SIZE_MAX), {std::to_string(SIZE_MAX)});
    expect_not_taken(with("ab", {}), {});
    for (const char* const size : {"-1", "\"2\"", "1.5", "null", "[]", "18446744073709551616", "true"})
        expect_not_taken(asked(x,
                               R"("datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":)" +
                                   std::string(size) + "}",
                               "ab"),
                         {"\"x\"", "binary_data_size"}, size);
    expect_not_taken(
        asked(x, R"("datatype":"UINT8","shape":[2],"data":[1,2],"parameters":{"binary_data_size":2})", "ab"),
        {"\"x\"", "either data or"});
    expect_not_taken(asked(x, binary_of(tensor_type::uint8, "[2]", SIZE_MAX), "ab"),
                     {"\"x\"", "2 bytes left"});
}

TEST(v2_request, of_texts_in_binary_must_be_exactly_as_many) {
    const auto with = [](const std::string& bytes, const std::string& shape = "[2]") {
        return asked(only(tensor_type::text, {-1}), binary_of(tensor_type::text, shape, bytes.size()), bytes);
    };
    const auto good = with("\3\0\0\0a\0\xff\0\0\0\0"s);
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ(good->inputs.at(0).texts, (std::vector<std::string>{"a\0\xff"s, ""}));
    expect_not_taken(with(texts_in_binary + "x"), {"\"x\"", "1 bytes more", "2 elements"});
    expect_not_taken(with(texts_in_binary.substr(0, 9)), {"\"x\"", "length of its element 1"});
    expect_not_taken(with(texts_in_binary.substr(0, 5)), {"\"x\"", "element 0", "2 bytes", "1 are left"});
    expect_not_taken(with(""), {"\"x\"", "element 0"});
    expect_not_taken(with("\xff\xff\xff\xff"), {"\"x\"", "4294967295 bytes"});
    expect_not_taken(with("\0\0\0\0"s, "[9223372036854775807]"), {"\"x\"", "element 1"});
    EXPECT_TRUE(with("", "[0]"));
}

TEST(v2_request, of_another_type_or_shape_is_refused_with_what_is_expected_and_found) {
    const model_signature x = only(tensor_type::int32, {-1, 2});
    const auto with = [&](const std::string& members) { return asked(x, members); };
    expect_not_taken(with(R"("datatype":"FP32","shape":[1,2],"data":[1,2])"), {"\"x\"", "INT32", "FP32"});
    expect_not_taken(with(R"("datatype":"int32","shape":[1,2],"data":[1,2])"), {"\"x\"", "INT32"});
    expect_not_taken(with(R"("shape":[1,2],"data":[1,2])"), {"\"x\"", "INT32", "missing"});
    expect_not_taken(with(R"("datatype":"INT32","data":[1,2])"), {"\"x\"", "shape"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[2],"data":[1,2])"), {"\"x\"", "[-1,2]", "[2]"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,3],"data":[1,2,3])"),
                     {"\"x\"", "[-1,2]", "[1,3]"});
    for (const char* const shape : {"[-1,2]", "[1.5,2]", "[\"1\",2]", "[null,2]", "7", "{}",
                                    "[18446744073709551615,2]", "[9223372036854775808,2]"})
        expect_not_taken(with(R"("datatype":"INT32","data":[1,2],"shape":)" + std::string(shape)),
                         {"\"x\"", "shape"}, shape);
    expect_not_taken(with(R"("datatype":"INT32","shape":[2,2],"data":[1,2,3])"),
                     {"\"x\"", "4 elements", "found 3"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,2],"data":[1,2,3])"),
                     {"\"x\"", "2 elements", "found 3"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[9223372036854775807,2],"data":[1])"),
                     {"\"x\"", "found 1"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,2],"data":7)"), {"\"x\"", "data"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,2])"), {"\"x\"", "data", "binary_data_size"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,2],"data":[1,"2"])"), {"\"x\"", "\"2\"", "INT32"});
    expect_not_taken(with(R"("datatype":"INT32","shape":[1,2],"data":[[[[1,2]]]])"),
                     {"\"x\"", "INT32 [1,2]", "an array of 1 at depth 1", "an array of 2"});
}

TEST(v2_request, has_data_that_is_flat_or_nested_exactly_as_its_shape_says) {
    const auto with = [](const std::string& shape, const std::string& data) {
        return asked(only(tensor_type::int32, {-1, -1}),
                     R"("datatype":"INT32","shape":)" + shape + R"(,"data":)" + data);
    };
    const auto nested = with("[2,3]", "[[1,2,3],[4,5,6]]"), flat = with("[2,3]", "[1,2,3,4,5,6]");
    ASSERT_TRUE(nested) << nested.error().message;
    ASSERT_TRUE(flat) << flat.error().message;
    EXPECT_TRUE(nested->inputs == flat->inputs);
    EXPECT_TRUE(with("[2,0]", "[[],[]]"));
    EXPECT_TRUE(with("[2,0]", "[]"));
    EXPECT_TRUE(with("[0,3]", "[]"));
    EXPECT_TRUE(with("[2.0,3]", "[1,2,3,4,5,6]")) << "a length may be written as a real, too";
    const std::vector<std::string> told = {"\"x\"", "INT32 [2,3]", "exactly as its shape says"};
    for (const char* const data :
         {"[[1,2],[3,4],[5,6]]", "[[1,2,3,4,5,6]]", "[[1],[2,3,4,5,6]]", "[[1,2,3],4,5,6]", "[1,2,3,[4,5,6]]",
          "[[[1,2,3],[4,5,6]]]", "[[1,2,3],[4,5,[6]]]", "[[1,2,3]]", "[[1,2,3],[4,5,6],[]]"})
        expect_not_taken(with("[2,3]", data), told, data);
    expect_not_taken(with("[2,3]", "[[1,2],[3,4],[5,6]]"),
                     {"found an array of 3 at depth 0", "an array of 2"});
    expect_not_taken(with("[2,3]", "[[1,2,3],[4,5,[6]]]"), {"found an array at depth 2", "an element"});
}

TEST(v2_request, with_wrong_names_is_refused) {
    const auto with = [](const std::string& inputs) {
        return request_of_v2(R"({"inputs":)" + inputs + "}", {}, two_inputs());
    };
    expect_not_taken(with("[" + a_in_json + "]"), {"\"b\"", "BYTES [-1]", "missing"});
    expect_not_taken(with("[" + a_in_json + "," + a_in_json + "]"), {"\"a\"", "twice"});
    expect_not_taken(with(R"([{"name":"c"}])"), {"\"c\"", "is not an input"});
    expect_not_taken(with("[{}]"), {"each member of inputs must be an object with a name"});
    expect_not_taken(with("[7]"), {"each member of inputs must be an object with a name"});
    expect_not_taken(with("[]"), {"\"a\"", "missing"});
    expect_not_taken(with("{}"), {"inputs"});
    for (const char* const body : {"{}", "[]", "7", "", "[", R"({"inputs":null})"})
        expect_not_taken(request_of_v2(body, {}, two_inputs()), {}, body);
    expect_not_taken(request_of_v2(R"({"id":7,"inputs":[]})", {}, two_inputs()), {"id", "a number"});
}

TEST(v2_request, takes_null_for_what_may_be_left_out) {
    const auto plain = request_of_v2(R"({"inputs":[)" + a_in_json + "," + b_in_json + "]}", {}, two_inputs());
    ASSERT_TRUE(plain);
    const std::string a_with_nulls =
        a_in_json.substr(0, a_in_json.size() - 1) +
        R"(,"parameters":{"binary_data_size":null,"shared_memory_region":null}})";
    const std::string b_with_nulls = b_in_json.substr(0, b_in_json.size() - 1) + R"(,"parameters":null})";
    const std::string inputs = R"("inputs":[)" + a_with_nulls + "," + b_with_nulls + "]";
    for (const std::string more :
         {R"("id":null,"outputs":null,"parameters":null)", R"("parameters":{"binary_data_output":null})",
          R"("outputs":[{"name":"s","parameters":null},{"name":"t","parameters":{"binary_data":null}}])"}) {
        const auto got = request_of_v2("{" + inputs + "," + more + "}", {}, two_inputs());
        ASSERT_TRUE(got) << more << ": " << got.error().message;
        EXPECT_EQ(got->id, "");
        EXPECT_EQ(got->inputs, expected());
        EXPECT_EQ(got->outputs, plain->outputs) << more;
        EXPECT_EQ(got->is_binary, plain->is_binary) << more;
    }
    const auto binary = request_of_v2(
        "{" + inputs +
            R"(,"parameters":{"binary_data_output":true},"outputs":[{"name":"t","parameters":{"binary_data":null}}]})",
        {}, two_inputs());
    ASSERT_TRUE(binary) << binary.error().message;
    EXPECT_EQ(binary->is_binary, std::vector<bool>{true}) << "the default of an output is that of all";
    const auto without = request_of_v2(
        R"({"inputs":[{"name":"a","datatype":"INT32","shape":[2,2],"data":null},)" + b_in_json + "]}", {},
        two_inputs());
    ASSERT_FALSE(without);
    EXPECT_THAT(without.error().message, testing::HasSubstr("must have data"));
}

TEST(v2_request, says_which_outputs_are_answered_and_how) {
    const auto with = [](const std::string& members) {
        return request_of_v2(R"({"inputs":[)" + a_in_json + "," + b_in_json + "]," + members + "}", {},
                             two_inputs());
    };
    const auto swapped = with(R"("outputs":[{"name":"t","parameters":{"binary_data":true}},{"name":"s"}])");
    ASSERT_TRUE(swapped) << swapped.error().message;
    EXPECT_EQ(swapped->outputs, (std::vector<std::uint32_t>{1, 0}));
    EXPECT_EQ(swapped->is_binary, (std::vector<bool>{true, false}));
    const auto all = with(R"("parameters":{"binary_data_output":true},"outputs":[])");
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->outputs.size(), 2u);
    EXPECT_EQ(all->is_binary, (std::vector<bool>{true, true}));
    const auto one = with(
        R"("parameters":{"binary_data_output":true},"outputs":[{"name":"s","parameters":{"binary_data":false}}])");
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->is_binary, (std::vector<bool>{false}));
    expect_not_taken(with(R"("outputs":[{"name":"u"}])"),
                     {"\"u\"", R"(not an output of the model; it has "s", "t")"});
    expect_not_taken(with(R"("outputs":[{"name":"s"},{"name":"s"}])"), {"\"s\"", "twice"});
    expect_not_taken(with(R"("outputs":[{}])"), {"each member of outputs must be an object with a name"});
    expect_not_taken(with(R"("outputs":7)"), {"outputs"});
    expect_not_taken(with(R"("outputs":[{"name":"s","parameters":{"binary_data":1}}])"), {"binary_data"});
    expect_not_taken(with(R"("parameters":{"binary_data_output":"yes"})"), {"binary_data_output"});
    expect_not_taken(with(R"("outputs":[{"name":"s","parameters":{"classification":3}}])"),
                     {"classification"});
    expect_not_taken(with(R"("outputs":[{"name":"s","parameters":{"shared_memory_region":"r"}}])"),
                     {"shared_memory_region of output \"s\" is not supported"});
}

TEST(v2_response, in_json_names_model_version_and_outputs) {
    v2_request request;
    request.id = "q\"1";
    request.outputs = {0, 1};
    request.is_binary = {false, false};
    const auto got = v2_of_outputs("team.m", "3", request, expected());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_FALSE(got->header_bytes);
    EXPECT_EQ(
        got->body,
        R"({"model_name":"team.m","model_version":"3","id":"q\"1","outputs":[{"name":"a","datatype":"INT32","shape":[2,2],"data":[1,2,3,4]},{"name":"b","datatype":"BYTES","shape":[2],"data":["ü",""]}]})");
}

TEST(v2_response, is_json_to_every_reader_whatever_the_model_gave) {
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();
    v2_request request;
    request.outputs = {0};
    const auto got =
        v2_of_outputs("m", "1", request,
                      {tensor_of<float>("y", tensor_type::float32, {4}, {nan, infinite, -infinite, 0.5F})});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_THAT(got->body, testing::HasSubstr(R"("data":[null,null,null,0.5])"));
    EXPECT_TRUE(schemas::parse_json(got->body));
}

TEST(v2_response, in_binary_has_the_bytes_behind_its_json_part) {
    v2_request request;
    request.outputs = {0, 1};
    request.is_binary = {true, true};
    const auto got = v2_of_outputs("m", "3", request, expected());
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_TRUE(got->header_bytes);
    EXPECT_EQ(got->body.substr(*got->header_bytes),
              bytes_of_all<std::int32_t>({1, 2, 3, 4}) + texts_in_binary);
    EXPECT_EQ(
        got->body.substr(0, *got->header_bytes),
        R"({"model_name":"m","model_version":"3","outputs":[{"name":"a","datatype":"INT32","shape":[2,2],"parameters":{"binary_data_size":16}},{"name":"b","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":10}}]})");
}

TEST(v2_response, holds_bytes_that_are_no_text_in_binary_only) {
    v2_request request;
    request.outputs = {0};
    request.is_binary = {false};
    expect_refused(v2_of_outputs("m", "1", request, {texts_of("t", {1}, {"\xff"})}),
                   error_code::failed_precondition, {"\"t\"", "binary"});
    request.is_binary = {true};
    const auto got = v2_of_outputs("m", "1", request, {texts_of("t", {1}, {"\xff"})});
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->body.ends_with("\1\0\0\0\xff"s));
}

TEST(v2_response, is_bounded_in_each_form) {
    v2_request request;
    request.outputs = {0};
    const auto refuse = [&](const tensor& output) {
        expect_refused(v2_of_outputs("m", "1", request, {output}), error_code::failed_precondition,
                       {"33554432 bytes", "fewer rows or outputs"});
    };
    request.is_binary = {true};
    refuse({"t", tensor_type::uint8, {50'331'600}, std::string(50'331'600, '\1'), {}});
    // Each of one byte, and four that say so.
    refuse(texts_of("t", {11'000'000}, std::vector<std::string>(11'000'000, "a")));
    request.is_binary = {false};
    refuse({"t", tensor_type::uint8, {30'000'000}, std::string(30'000'000, '\1'), {}});
    const auto empty = v2_of_outputs(
        "m", "1", request, {tensor_of<float>("t", tensor_type::float32, {1LL << 40, 1LL << 40, 0}, {})});
    ASSERT_TRUE(empty) << empty.error().message;
    EXPECT_TRUE(empty->body.ends_with(R"("data":[]}]})")) << empty->body;
}

TEST(v2_metadata, tells_types_and_shapes) {
    EXPECT_EQ(
        api::predictions::v2_metadata(
            "m", "3", {{{"x", tensor_type::float16, {-1, 2}}}, {{"y", tensor_type::text, {}}}}, "p"),
        R"({"name":"m","versions":["3"],"platform":"p","inputs":[{"name":"x","datatype":"FP16","shape":[-1,2]}],"outputs":[{"name":"y","datatype":"BYTES","shape":[]}]})");
    EXPECT_EQ(api::predictions::v2_server_metadata("1.2"),
              R"({"name":"herald","version":"1.2","extensions":["binary_tensor_data"]})");
}

}  // namespace
}  // namespace herald::test
