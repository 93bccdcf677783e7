// Protects the short way from JSON to tensors: it takes nothing that the long way refuses, and reads alike
// what it takes.
#include "schemas/plain_tensors.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "schemas/json.hpp"
#include "schemas/json_counts.hpp"

namespace herald::test {
namespace {

using schemas::json_array;
using schemas::json_value;
using schemas::model_signature;
using schemas::read_plain_tensors;
using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

model_signature with(std::vector<tensor_spec> inputs) { return {std::move(inputs), {}}; }
model_signature two_integers() {
    return with({{"x", tensor_type::int32, {1, 3}}, {"y", tensor_type::int32, {1, 3}}});
}
model_signature one(tensor_type type, std::vector<std::int64_t> shape) {
    return with({{"x", type, std::move(shape)}});
}
template <class Number>
std::vector<Number> numbers_of(const tensor& from) {
    std::vector<Number> out(from.data.size() / sizeof(Number));
    std::memcpy(out.data(), from.data.data(), from.data.size());
    return out;
}

TEST(plain_tensors, are_read_by_name_in_the_models_order) {
    const auto read = read_plain_tensors(R"( { "y" : [[4,5,-6]] , "x":[[1,2,3]]} )", two_integers());
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].name, "x");
    EXPECT_EQ((*read)[0].shape, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(numbers_of<std::int32_t>((*read)[0]), (std::vector<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(numbers_of<std::int32_t>((*read)[1]), (std::vector<std::int32_t>{4, 5, -6}));
}

TEST(plain_tensors, are_read_from_a_bare_array_of_a_models_only_input) {
    const auto read = read_plain_tensors("[[1,2.5],[-3e2,0]]", one(tensor_type::float32, {-1, 2}));
    ASSERT_TRUE(read);
    EXPECT_EQ((*read)[0].shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(numbers_of<float>((*read)[0]), (std::vector<float>{1, 2.5f, -300, 0}));
    EXPECT_FALSE(read_plain_tensors("[[1,2,3]]", two_integers()));
}

TEST(plain_tensors, of_each_type_of_number_keep_their_extremes) {
    const auto read = [](tensor_type type, const std::string& text) {
        return read_plain_tensors(text, one(type, {-1})).has_value();
    };
    EXPECT_TRUE(read(tensor_type::int8, "[-128,127]"));
    EXPECT_FALSE(read(tensor_type::int8, "[128]"));
    EXPECT_TRUE(read(tensor_type::uint8, "[0,255]"));
    EXPECT_FALSE(read(tensor_type::uint8, "[-1]"));
    EXPECT_TRUE(read(tensor_type::int64, "[-9223372036854775808,9223372036854775807]"));
    EXPECT_FALSE(read(tensor_type::int64, "[9223372036854775808]"));
    EXPECT_TRUE(read(tensor_type::uint64, "[18446744073709551615]"));
    EXPECT_FALSE(read(tensor_type::uint64, "[18446744073709551616]"));
    EXPECT_FALSE(read(tensor_type::float32, "[3.5e38]"));
    EXPECT_TRUE(read(tensor_type::float64, "[1.7976931348623157e308,5e-324]"));
    EXPECT_FALSE(read(tensor_type::float64, "[1e309]"));
}

TEST(plain_tensors, of_numbers_between_two_integers_are_what_the_tree_of_values_says) {
    for (const std::string text :
         {"[5e-424]", "[-1e-400]", "[0.99999999999999999999]", "[1e-400 ]", "[1.0e0]"}) {
        const auto read = read_plain_tensors(text, one(tensor_type::float64, {-1}));
        const auto tree = schemas::parse_prediction_json(text);
        ASSERT_TRUE(read && tree) << text;
        const auto* number = tree->get_if<json_array>()->front().get_if<double>();
        ASSERT_NE(number, nullptr) << text;
        EXPECT_EQ(numbers_of<double>((*read)[0]), std::vector<double>{*number}) << text;
    }
}

TEST(plain_tensors, leave_everything_else_to_the_long_way) {
    for (const std::string text : {"",
                                   " ",
                                   "{",
                                   "[",
                                   "]",
                                   "{}",
                                   "[]",
                                   "null",
                                   "1",
                                   "NaN",
                                   R"({"x":[[1,2,3]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3]],"z":[[1,2,3]]})",
                                   R"({"x":[[1,2,3]],"x":[[1,2,3]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2]]})",
                                   R"({"x":[[1,2,3]],"y":[1,2,3]})",
                                   R"({"x":[[1,2,3]],"y":[[[1,2,3]]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3.0]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,true]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,"3"]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3]],})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3]]} x)",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3]]}{})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3],]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2 3]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,03]]})",
                                   R"({"x":[[1,2,3]] "y":[[1,2,3]]})",
                                   R"({"x":[[1,2,3]],"y":[[1,2,3])"})
        EXPECT_FALSE(read_plain_tensors(text, two_integers())) << text;
    EXPECT_FALSE(read_plain_tensors("[-0]", one(tensor_type::float32, {-1})));
    EXPECT_FALSE(read_plain_tensors("[NaN]", one(tensor_type::float32, {-1})));
    EXPECT_FALSE(read_plain_tensors("[]", one(tensor_type::float32, {-1})));
    EXPECT_FALSE(read_plain_tensors("[1]", one(tensor_type::float16, {-1})));
    EXPECT_FALSE(read_plain_tensors("[[1],[2,3]]", one(tensor_type::float32, {-1, -1})));
    EXPECT_FALSE(read_plain_tensors("1", one(tensor_type::float32, {})));
}

TEST(plain_tensors, of_texts_are_characters_without_escapes) {
    const auto spec = one(tensor_type::text, {-1});
    for (const std::size_t elements_max : {std::size_t{0}, std::size_t{5}}) {
        const auto read = read_plain_tensors(R"({"x":["a","","\u00e9\n","[,\"","퀀"]})", spec, elements_max);
        ASSERT_TRUE(read);
        EXPECT_EQ((*read)[0].texts, (std::vector<std::string>{"a", "", "é\n", "[,\"", "퀀"}));
        EXPECT_EQ((*read)[0].shape, std::vector<std::int64_t>{5});
        EXPECT_TRUE((*read)[0].data.empty());
    }
    EXPECT_TRUE(read_plain_tensors(R"([["a"],["b"]])", one(tensor_type::text, {-1, 1})));
    for (const std::string text :
         {R"(["\udc00"])", R"(["\x"])", R"(["a",1])", R"(["a",null])", R"(["a)", "[\"\xFF\"]", "[a]"})
        EXPECT_FALSE(read_plain_tensors(text, spec)) << text;
}

TEST(json_counts, are_of_what_is_outside_of_strings) {
    const auto counts = schemas::counts_of(R"({"a,":[1,[2,3],{"b\"[":",,\\"}],"c":[[4]]})");
    EXPECT_EQ(counts.elements, 5u);
    EXPECT_EQ(counts.lists, 6u);
    EXPECT_EQ(counts.members, 3u);
    EXPECT_EQ(schemas::counts_of("").elements, 1u);
    for (const std::string text : {"\"", "\"\\", "[\"a", "]"})
        EXPECT_EQ(schemas::counts_of(text).elements, 1u) << text;
}

// ---- against the tree of values

void append_leaves(const json_value& value, tensor_type type, std::string& to) {
    if (const json_array* items = value.get_if<json_array>()) {
        for (const json_value& each : *items) append_leaves(each, type, to);
        return;
    }
    const auto append = [&](auto number) {
        to.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    const auto as = [&](auto number) {
        type == tensor_type::int32 ? append(static_cast<std::int32_t>(number))
                                   : append(static_cast<float>(static_cast<double>(number)));
    };
    if (const auto* number = value.get_if<std::int64_t>())
        as(*number);
    else if (const auto* large = value.get_if<std::uint64_t>())
        as(*large);
    else if (const auto* real = value.get_if<double>())
        as(*real);
    else if (const auto* longer = value.get_if<schemas::long_integer>())
        as(std::stod(longer->digits));
    else
        FAIL() << "the short way took what is no number";
}

TEST(plain_tensors, are_what_the_tree_of_values_says) {
    std::mt19937 random(7);
    const std::vector<std::string> pieces{"{",     "}",  "[",  "]",  ",",  ":",   "\"x\"",
                                          "\"y\"", " ",  "1",  "-7", "12", "0.5", "1e3",
                                          "-0.0",  "\n", "01", "1.", "\\", "1e40"};
    std::size_t taken = 0;
    for (int round = 0; round < 200'000; ++round) {
        const tensor_type type = round % 2 == 0 ? tensor_type::int32 : tensor_type::float32;
        const auto signature = with({{"x", type, {-1, 2}}, {"y", type, {-1}}});
        std::string text = R"({"x":[[1,2],[3,4]],"y":[5,6,123456789012345678901]})";
        if (type == tensor_type::int32) text = R"({"x":[[1,2],[3,4]],"y":[5,6,-2147483648]})";
        for (unsigned edits = random() % 3; edits > 0; --edits) {
            const std::string& piece = pieces[random() % pieces.size()];
            text.replace(random() % text.size(), random() % 3, piece);
        }
        const auto read = read_plain_tensors(text, signature);
        if (!read) continue;
        ++taken;
        const auto tree = schemas::parse_prediction_json(text);
        ASSERT_TRUE(tree) << text;
        for (const tensor& each : *read) {
            const json_value* const value = tree->find(each.name);
            ASSERT_NE(value, nullptr) << text;
            std::string expected;
            append_leaves(*value, type, expected);
            ASSERT_EQ(each.data, expected) << text;
        }
    }
    EXPECT_GT(taken, 20'000u);
}

}  // namespace
}  // namespace herald::test
