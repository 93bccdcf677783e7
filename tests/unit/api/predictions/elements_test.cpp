// Protects the elements of tensors: each value of each type comes back from JSON as it went in, and none that
// the type cannot hold is taken for another.
#include "api/predictions/elements.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "api/predictions/limits.hpp"
#include "tests/unit/api/predictions/tensors_of_tests.hpp"

namespace herald::test {
namespace {

using api::predictions::append_element;
using api::predictions::append_elements_json;
using api::predictions::elements_of;
using api::predictions::fits;
using api::predictions::wrong_shape;

constexpr tensor_type integer_types[] = {tensor_type::uint8,  tensor_type::uint16, tensor_type::uint32,
                                         tensor_type::uint64, tensor_type::int8,   tensor_type::int16,
                                         tensor_type::int32,  tensor_type::int64};
constexpr tensor_type real_types[] = {tensor_type::float16, tensor_type::bfloat16, tensor_type::float32,
                                      tensor_type::float64};

/// A tensor "x" of one element.
result<tensor> element_of(tensor_type type, std::string_view json) {
    const auto value = schemas::parse_prediction_json(json);
    if (!value) return value.error();
    tensor made{"x", type, {}, {}, {}};
    if (const auto good = append_element(made, *value); !good) return good.error();
    return made;
}

std::string json_of(const tensor& from) {
    std::string out;
    const auto good = append_elements_json(out, from, 0, 1);
    EXPECT_TRUE(good) << (good ? "" : good.error().message);
    return out;
}

/// The element as it comes back.
std::string through(tensor_type type, std::string_view json) {
    const auto made = element_of(type, json);
    EXPECT_TRUE(made) << name_of(type) << " " << json << (made ? "" : ": " + made.error().message);
    return made ? json_of(*made) : "";
}

void expect_not_taken(tensor_type type, std::string_view json, const std::vector<std::string>& texts) {
    const std::string where = std::string(name_of(type)) + " " + std::string(json);
    expect_refused(element_of(type, json), error_code::invalid_argument, texts, where);
}

TEST(elements, of_each_type_keep_its_extremes) {
    const std::pair<tensor_type, const char*> all[] = {
        {tensor_type::boolean, "true"},
        {tensor_type::boolean, "false"},
        {tensor_type::uint8, "0"},
        {tensor_type::uint8, "255"},
        {tensor_type::uint16, "65535"},
        {tensor_type::uint32, "4294967295"},
        {tensor_type::uint64, "18446744073709551615"},
        {tensor_type::int8, "-128"},
        {tensor_type::int8, "127"},
        {tensor_type::int16, "-32768"},
        {tensor_type::int16, "32767"},
        {tensor_type::int32, "-2147483648"},
        {tensor_type::int32, "2147483647"},
        {tensor_type::int64, "-9223372036854775808"},
        {tensor_type::int64, "9223372036854775807"},
        {tensor_type::float16, "65504"},
        {tensor_type::float16, "-65504"},
        {tensor_type::float32, "3.4028235e+38"},
        {tensor_type::float32, "1e-45"},
        {tensor_type::float64, "1.7976931348623157e+308"},
        {tensor_type::float64, "5e-324"},
        {tensor_type::text, R"("")"},
        {tensor_type::text, R"("a\"ü€𝄞\n")"},
    };
    for (const auto& [type, json] : all) EXPECT_EQ(through(type, json), json) << name_of(type);
}

TEST(elements, lie_little_endian_in_as_many_bytes_as_their_type_has) {
    EXPECT_EQ(element_of(tensor_type::boolean, "true")->data, "\x01");
    EXPECT_EQ(element_of(tensor_type::uint16, "258")->data, "\x02\x01");
    EXPECT_EQ(element_of(tensor_type::int32, "-2")->data, "\xfe\xff\xff\xff");
    EXPECT_EQ(element_of(tensor_type::float16, "1")->data, std::string("\x00\x3c", 2));
    EXPECT_EQ(element_of(tensor_type::bfloat16, "1")->data, std::string("\x80\x3f", 2));
    EXPECT_EQ(element_of(tensor_type::float32, "1")->data, std::string("\x00\x00\x80\x3f", 4));
    EXPECT_EQ(element_of(tensor_type::text, "\"ab\"")->texts, std::vector<std::string>{"ab"});
    for (const tensor_type type : integer_types)
        EXPECT_EQ(element_of(type, "1")->data.size(), schemas::bytes_of(type)) << name_of(type);
    for (const tensor_type type : real_types)
        EXPECT_EQ(element_of(type, "1")->data.size(), schemas::bytes_of(type)) << name_of(type);
}

TEST(elements, that_are_out_of_range_are_refused_with_the_range) {
    const std::tuple<tensor_type, const char*, const char*> all[] = {
        {tensor_type::uint8, "256", "from 0 to 255"},
        {tensor_type::uint8, "-1", "from 0 to 255"},
        {tensor_type::uint16, "65536", "from 0 to 65535"},
        {tensor_type::uint32, "4294967296", "from 0 to 4294967295"},
        {tensor_type::uint64, "18446744073709551616", "from 0 to 18446744073709551615"},
        {tensor_type::uint64, "-1", "from 0 to 18446744073709551615"},
        {tensor_type::int8, "128", "from -128 to 127"},
        {tensor_type::int8, "-129", "from -128 to 127"},
        {tensor_type::int16, "32768", "from -32768 to 32767"},
        {tensor_type::int32, "2147483648", "from -2147483648 to 2147483647"},
        {tensor_type::int32, "-2147483649", "from -2147483648 to 2147483647"},
        {tensor_type::int64, "9223372036854775808", "to 9223372036854775807"},
        {tensor_type::int64, "-9223372036854775809", "from -9223372036854775808"},
    };
    for (const auto& [type, json, range] : all)
        expect_not_taken(type, json, {"\"x\"", json, std::string(name_of(type)), range});
    for (const tensor_type type : {tensor_type::float16, tensor_type::bfloat16, tensor_type::float32})
        for (const char* const json : {"1e39", "-1e39", "1000000000000000000000000000000000000000"})
            expect_not_taken(type, json, {"\"x\"", "within the range", std::string(name_of(type))});
}

TEST(elements, of_integers_take_reals_without_a_fraction) {
    for (const tensor_type type : integer_types) {
        EXPECT_EQ(through(type, "1.0"), "1") << name_of(type);
        EXPECT_EQ(through(type, "-0.0"), "0") << name_of(type);
        EXPECT_EQ(through(type, "1e2"), "100") << name_of(type);
        for (const char* const json : {"0.5", "1e300", "NaN", "Infinity", "-Infinity"})
            expect_not_taken(type, json, {"\"x\"", "an integer"});
    }
    expect_not_taken(tensor_type::uint8, "256.0", {"an integer"});
    expect_not_taken(tensor_type::uint8, "-1.0", {"an integer"});
}

TEST(elements, of_integers_take_no_reals_that_may_stand_for_another_integer) {
    EXPECT_EQ(through(tensor_type::int64, "9007199254740991.0"), "9007199254740991");
    EXPECT_EQ(through(tensor_type::int64, "-9007199254740991.0"), "-9007199254740991");
    EXPECT_EQ(through(tensor_type::uint64, "9007199254740991.0"), "9007199254740991");
    EXPECT_EQ(through(tensor_type::int64, "9007199254740993"), "9007199254740993");
    for (const tensor_type type : {tensor_type::int64, tensor_type::uint64})
        for (const char* const json : {"9007199254740992.0", "9007199254740993.0", "9223372036854775808.0",
                                       "18446744073709551616.0", "1e17"})
            expect_not_taken(type, json,
                             {"an integer", "holds a number beyond 9007199254740991", "without a fraction"});
    expect_not_taken(tensor_type::int64, "-9223372036854775808.0", {"beyond 9007199254740991"});
}

TEST(elements, of_reals_have_nan_and_infinities) {
    for (const tensor_type type : real_types) {
        for (const char* const json : {"NaN", "Infinity", "-Infinity"})
            EXPECT_EQ(through(type, json), json) << name_of(type);
        EXPECT_EQ(through(type, "-0.0"), "-0.0") << name_of(type);
        EXPECT_EQ(through(type, "7"), "7") << name_of(type);
    }
}

TEST(elements, of_other_kinds_are_refused) {
    for (const char* const json : {"null", "1", "\"true\"", "[]", "{}"})
        expect_not_taken(tensor_type::boolean, json, {"\"x\"", "true or false"});
    for (const char* const json : {"null", "1", "true", "[]", "{}", "NaN"})
        expect_not_taken(tensor_type::text, json, {"\"x\"", "a string"});
    for (const tensor_type type : integer_types)
        for (const char* const json : {"null", "true", "\"1\"", "[1]", "{}"})
            expect_not_taken(type, json, {"\"x\"", "an integer"});
    for (const tensor_type type : real_types)
        for (const char* const json : {"null", "true", "\"1\"", "\"NaN\"", "[1]", "{}"})
            expect_not_taken(type, json, {"\"x\"", "a number"});
}

TEST(elements, that_are_long_are_not_shown_in_the_refusal) {
    const auto refused = element_of(tensor_type::int32, "\"" + std::string(100'000, 'a') + "\"");
    ASSERT_FALSE(refused);
    EXPECT_LT(refused.error().message.size(), 300u);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("a string"));
}

/// Each of these bit patterns, through JSON and back.
template <class Bits>
void expect_round_trip(tensor_type type, Bits bits) {
    const tensor before = tensor_of<Bits>("x", type, {}, {bits});
    const std::string json = json_of(before);
    const auto after = element_of(type, json);
    ASSERT_TRUE(after) << name_of(type) << " " << json;
    if (json != "NaN") {
        ASSERT_EQ(after->data, before.data) << name_of(type) << " " << json;
    } else {
        ASSERT_EQ(json_of(*after), "NaN");
    }
}

TEST(elements, of_sixteen_bits_read_back_as_the_same_all_of_them) {
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits)
        for (const tensor_type type : {tensor_type::float16, tensor_type::bfloat16})
            expect_round_trip(type, static_cast<std::uint16_t>(bits));
}

TEST(elements, of_reals_read_back_as_the_same) {
    std::uint64_t state = 1;
    for (int i = 0; i < 50'000; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        expect_round_trip(tensor_type::float64, std::rotl(state, 23));
        expect_round_trip(tensor_type::float32, static_cast<std::uint32_t>(state >> 32));
    }
}

TEST(elements, of_reals_are_written_as_short_as_they_can_be) {
    EXPECT_EQ(through(tensor_type::float32, "0.1"), "0.1");
    EXPECT_EQ(through(tensor_type::float64, "0.1"), "0.1");
    EXPECT_EQ(through(tensor_type::float32, "0.30000001192092896"), "0.3");
    EXPECT_EQ(through(tensor_type::float64, "0.30000001192092896"), "0.30000001192092896");
    EXPECT_EQ(through(tensor_type::float32, "16777217"), "16777216");
}

TEST(elements, of_half_precision_are_the_nearest_and_ties_go_to_the_even_one) {
    const auto half = [](std::string_view json) {
        const auto made = element_of(tensor_type::float16, json);
        std::uint16_t bits = 0xFFFF;
        if (made) std::memcpy(&bits, made->data.data(), sizeof bits);
        return bits;
    };
    EXPECT_EQ(half("1.00048828125"), 0x3C00);  // the middle of 1 and the next
    EXPECT_EQ(half("1.0004884"), 0x3C01);
    EXPECT_EQ(half("1.00146484375"), 0x3C02);           // the middle of the next two
    EXPECT_EQ(half("65519"), 0x7BFF);                   // the largest finite one
    EXPECT_EQ(half("2.9802322387695312e-08"), 0x0000);  // half of the smallest
    EXPECT_EQ(half("2.99e-08"), 0x0001);
    EXPECT_EQ(half("6.097555160522461e-05"), 0x03FF);  // the largest subnormal
    EXPECT_EQ(half("6.103515625e-05"), 0x0400);        // the smallest normal
    // Rounded to 24 bits first, these would be the middle, and go to the wrong side.
    EXPECT_EQ(half("1.00048828125000001"), 0x3C00);  // as a double, this is the middle
    EXPECT_EQ(half("1.0004882812500005"), 0x3C01);
    EXPECT_EQ(half("-1.0004882812500005"), 0xBC01);
    EXPECT_EQ(half("1.0014648437499996"), 0x3C01);
    EXPECT_EQ(half("2.9802322387695316e-08"), 0x0001);
    EXPECT_EQ(half("1e-300"), 0x0000);
    EXPECT_EQ(half("65519.99999999999"), 0x7BFF);
    expect_not_taken(tensor_type::float16, "65520", {"within the range"});
    expect_not_taken(tensor_type::bfloat16, "3.4e38", {"within the range"});
}

TEST(elements, of_texts_that_are_no_utf8_cannot_be_told_in_json) {
    std::string out;
    const tensor raw = texts_of("y", {1}, {"\xff\xfe"});
    expect_refused(append_elements_json(out, raw, 0, 1), error_code::failed_precondition,
                   {"\"y\"", "binary"});
}

TEST(elements, are_written_up_to_a_bound) {
    // Of three bytes each, with the comma: more elements than the bound has room for.
    const std::size_t count = limits::prediction_answer_bytes_max / 3 + 1'000;
    const auto size = static_cast<std::int64_t>(count);
    const tensor numbers{"y", tensor_type::uint8, {size}, std::string(count, 'c'), {}};
    std::string out;
    expect_refused(append_elements_json(out, numbers, 0, count), error_code::failed_precondition,
                   {"33554432 bytes", "fewer rows or outputs"});
    EXPECT_LT(out.size(), limits::prediction_answer_bytes_max + 4'096);
    out.clear();
    const tensor flags{"y", tensor_type::boolean, {size}, std::string(count, '\1'), {}};
    expect_refused(append_elements_json(out, flags, 0, count), error_code::failed_precondition,
                   {"33554432 bytes"});
    out.clear();
    const tensor texts = texts_of("y", {2}, {std::string(30'000'000, 'a'), std::string(30'000'000, 'a')});
    expect_refused(append_elements_json(out, texts, 0, 2), error_code::failed_precondition,
                   {"33554432 bytes"});
    EXPECT_LT(out.size(), 30'001'000u);
}

TEST(elements, of_a_shape_are_counted_and_never_wrap_around) {
    EXPECT_EQ(elements_of({}), 1u);
    EXPECT_EQ(elements_of({2, 3}), 6u);
    EXPECT_EQ(elements_of({0, 3}), 0u);
    EXPECT_EQ(elements_of({1LL << 32, 1LL << 32, 1LL << 32}), std::numeric_limits<std::size_t>::max());
    EXPECT_EQ(elements_of({1LL << 40, 1LL << 40, 0}), 0u);
    EXPECT_EQ(elements_of({INT64_MAX, 3}), std::numeric_limits<std::size_t>::max());
}

TEST(shapes, fit_where_each_dimension_is_free_or_the_same) {
    EXPECT_TRUE(fits({}, {}));
    EXPECT_TRUE(fits({2, 3}, {-1, 3}));
    EXPECT_TRUE(fits({0}, {-1}));
    EXPECT_FALSE(fits({2, 3}, {2, 4}));
    EXPECT_FALSE(fits({2}, {2, 1}));
    EXPECT_FALSE(fits({}, {1}));
    EXPECT_FALSE(fits({1}, {}));
}

TEST(shapes, that_do_not_fit_are_told_with_what_is_expected) {
    const error told = wrong_shape({"x", tensor_type::float32, {-1, 3}}, {2, 4});
    EXPECT_EQ(told.code, error_code::invalid_argument);
    for (const char* const text : {"\"x\"", "FP32 [-1,3]", "[2,4]"})
        EXPECT_THAT(told.message, ::testing::HasSubstr(text));
}

}  // namespace
}  // namespace herald::test
