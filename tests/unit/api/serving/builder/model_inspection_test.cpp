// Protects builds from what is no model: any bytes are told apart, and the text says what would be right.
#include "api/serving/builder/model_inspection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "api/serving/builder/limits.hpp"
#include "tests/support/model_bytes.hpp"

namespace herald::test {
namespace {

using api::serving::builder::inspect_model;
using testing::HasSubstr;

std::string why_not(std::string_view bytes) {
    const auto seen = inspect_model(bytes);
    return seen ? "" : seen.error().message;
}

TEST(model_inspection, takes_a_model_whose_values_are_in_it) { EXPECT_EQ(why_not(wire::small_model()), ""); }

TEST(model_inspection, tells_a_model_of_another_kind_what_it_needs) {
    const std::string pickle("\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x07sklearn\x94.", 22);
    const std::string zip = "PK\x03\x04 a torch archive";
    const std::string hdf("\x89HDF\r\n\x1a\n", 8);
    for (const std::string& each :
         {pickle, zip, hdf, std::string(), std::string("{\"trees\": []}"), std::string(4'096, '\0')})
        EXPECT_THAT(why_not(each), testing::AllOf(HasSubstr("not an ONNX model"), HasSubstr("upstream_url"),
                                                  HasSubstr("external_location")));
}

TEST(model_inspection, refuses_each_model_that_was_cut_off) {
    const std::string whole = wire::small_model();
    // Behind the graph stands only which operators it is made for: a file cut right there is a model.
    const std::size_t behind_graph = whole.size() - wire::bytes(8, wire::number(2, 17)).size();
    for (std::size_t length = 0; length < whole.size(); ++length)
        if (length != behind_graph) {
            EXPECT_NE(why_not(whole.substr(0, length)), "") << length;
        }
    EXPECT_THAT(why_not(whole.substr(0, whole.size() - 3)), HasSubstr("damaged"));
}

TEST(model_inspection, names_the_input_whose_rank_is_not_known) {
    const std::string floats = wire::number(1, 1);
    const auto input = [](const std::string& tensor) {
        return wire::bytes(11, wire::bytes(1, "x") + wire::bytes(2, wire::bytes(1, tensor)));
    };
    EXPECT_THAT(
        why_not(wire::model(input(floats))),
        testing::AllOf(HasSubstr("input \"x\""), HasSubstr("how many dimensions"), HasSubstr("[\"N\",4]")));
    EXPECT_EQ(why_not(wire::model(input(floats + wire::bytes(2, "")))), "");  // a scalar
    EXPECT_EQ(why_not(wire::model(input(floats) + wire::bytes(5, wire::bytes(8, "x")))), "");
}

TEST(model_inspection, names_the_tensor_whose_values_are_in_another_file) {
    EXPECT_THAT(why_not(wire::small_model("layer1.weight", true)),
                testing::AllOf(HasSubstr("\"layer1.weight\""), HasSubstr("another file")));
}

TEST(model_inspection, finds_such_a_tensor_wherever_it_stands) {
    const std::string tensor = wire::tensor("hidden", true);
    const std::string in_attribute =
        wire::bytes(1, wire::bytes(5, wire::bytes(1, "value") + wire::bytes(5, tensor)));
    const std::string in_list = wire::bytes(1, wire::bytes(5, wire::bytes(10, tensor)));
    const std::string in_branch = wire::bytes(1, wire::bytes(5, wire::bytes(6, wire::bytes(5, tensor))));
    const std::string in_sparse = wire::bytes(15, wire::bytes(1, tensor));
    for (const std::string& graph : {in_attribute, in_list, in_branch, in_sparse})
        EXPECT_THAT(why_not(wire::model(graph)), HasSubstr("\"hidden\""));
    const std::string function = wire::bytes(25, wire::bytes(7, wire::bytes(5, wire::bytes(5, tensor))));
    EXPECT_THAT(why_not(wire::small_model() + function), HasSubstr("\"hidden\""));
}

TEST(model_inspection, shows_no_control_characters_of_a_name) {
    const std::string why = why_not(wire::small_model("a\r\nb\x1b[31m" + std::string(5'000, 'x'), true));
    EXPECT_THAT(why, HasSubstr("\"a??b?[31m"));
    EXPECT_LT(why.size(), limits::model_name_bytes_shown_max + 200);
}

TEST(model_inspection, bounds_how_deep_graphs_stand_in_each_other) {
    std::string graph = wire::bytes(2, "innermost");
    for (int i = 0; i < 10'000; ++i) graph = wire::bytes(1, wire::bytes(5, wire::bytes(6, graph)));
    EXPECT_THAT(why_not(wire::model(graph)), HasSubstr("deep"));
}

TEST(model_inspection, ends_on_any_bytes) {
    std::mt19937 random(20'261'124);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = round % 2 == 0 ? wire::small_model() : std::string(random() % 300, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (round % 2 == 1 || random() % 16 == 0) bytes[i] = static_cast<char>(random());
        (void)why_not(bytes);
    }
    // A length that is more than there can be.
    EXPECT_NE(why_not(wire::number(1, 8) + "\x3a" + wire::varint(UINT64_MAX)), "");
}

}  // namespace
}  // namespace herald::test
