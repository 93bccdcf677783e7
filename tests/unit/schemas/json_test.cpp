// Protects JSON: it is read and written as the contract says (wire.md §1), and bad JSON is refused with the
// reason.
#include <gmock/gmock.h>

#include <cmath>

#include "schemas/binary.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/registry.hpp"
#include "schemas/views.hpp"

namespace herald::test {
namespace {

using namespace schemas;

using testing::HasSubstr;

std::string again(std::string_view text) {
    const auto value = parse_json(text);
    return value ? to_json_text(*value) : "refused: " + value.error().message;
}

TEST(json, values_come_back_unchanged) {
    for (const char* text : {"null", "true", "[]", "{}", "[1,-2,18446744073709551615,1.5,1e+300,0.1]",
                             "\"\\u0001\\\"\\\\\"", "{\"b\":1,\"a\":{\"c\":[null]}}", "\"\xC3\xA4\"", "1.0",
                             "100000000000000000000", "[-99999999999999999999999]", "{\"NaN\":\"Infinity\"}"})
        EXPECT_EQ(again(text), text);
    EXPECT_EQ(again(" [ 1 , -0 ,5e-324,1E+2,1e-400 ]\n"), "[1,0,5e-324,100.0,5e-324]");
    EXPECT_EQ(again("\"\\/\\b\\f\\n\\r\\t\\u00e4\\u20AC\\uD83D\\ude00\\u0000\""),
              "\"/\\u0008\\u000c\\n\\r\\t\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\\u0000\"");
}

TEST(json, a_number_between_two_integers_never_becomes_one_of_them) {
    const std::string zeros(400, '0');
    for (const std::string& text :
         {"0." + zeros + "1", "-0." + zeros + "1", std::string("1e-400"),
          std::string("0.99999999999999999999"), std::string("1.00000000000000000000001"),
          std::string("-7.0000000000000000000000000001e0"), std::string("123456789.9999999999999")}) {
        const auto value = parse_json("[" + text + "]");
        ASSERT_TRUE(value) << text;
        const double* const number = value->get_if<json_array>()->front().get_if<double>();
        ASSERT_TRUE(number) << text;
        EXPECT_NE(std::trunc(*number), *number) << text;
        EXPECT_LT(std::abs(*number - std::strtod(text.c_str(), nullptr)), 1e-7) << text;
        EXPECT_FALSE(from_json<registered_model>(*parse_json("{\"id\":" + text + "}"))) << text;
    }
    for (const char* text : {"0.0", "-0.0", "1.0", "0e-999999999999999999999", "100e-2", "1.50e1",
                             "7.000000000000000000000000"}) {
        const auto value = parse_json(text);
        const double* const number = value->get_if<double>();
        ASSERT_TRUE(number) << text;
        EXPECT_EQ(*number, std::strtod(text, nullptr)) << text;
    }
}

TEST(json, bad_texts_are_refused) {
    for (const char* text : {"",
                             "{",
                             "[1,]",
                             "{\"a\":}",
                             "nul",
                             "nullx ",
                             "[truex]",
                             "[1.]",
                             "[-]",
                             "[tru]",
                             "\"\xff\"",
                             "1 2",
                             "{'a':1}",
                             "1e400",
                             "-1e400",
                             "[01]",
                             "0123456789012345678901",
                             "NaN1",
                             "aNaN",
                             "-NaN",
                             "{NaN:1}",
                             "[--Infinity]",
                             "\"\\ud800\"",
                             "\"\\udc00\"",
                             "[NaN,\"\\udc00\"]",
                             "{\"\\udc00\":1}",
                             "[NaN,\"",
                             "[NaN,\"\\"})
        EXPECT_THAT(again(text), HasSubstr("refused")) << text;
}

TEST(json, bad_texts_are_refused_naming_the_place_and_what_would_be_right) {
    const auto why = [](std::string_view text) { return parse_json(text).error().message; };
    EXPECT_EQ(
        why("{name:1}"),
        "the body is not valid JSON: line 1, column 2: a member's name in double quotes is expected, not n");
    EXPECT_EQ(
        why("{\n  'name': 1}"),
        "the body is not valid JSON: line 2, column 3: a member's name in double quotes is expected, not '");
    EXPECT_EQ(why("{\"\xC3\xA4\" 1}"),
              "the body is not valid JSON: line 1, column 6: a colon is expected, not 1");
    EXPECT_EQ(
        why("[1,]"),
        "the body is not valid JSON: line 1, column 4: a value (an object, an array, a string, a number, "
        "true, false or null) is expected, not ]");
    EXPECT_THAT(why("{\"a\":1,}"),
                HasSubstr("column 8: a member's name in double quotes is expected, not }"));
    EXPECT_THAT(why("{\"a\":[1,2"),
                HasSubstr("column 10: a comma or ] is expected, not the end of the text"));
    EXPECT_THAT(why("{\"a\":1 \"b\":2}"), HasSubstr("column 8: a comma or } is expected, not \""));
    EXPECT_THAT(why("\"\t\""), HasSubstr("not the control character U+0009"));
    EXPECT_THAT(why("[1,\n\"a]"),
                HasSubstr("line 2, column 1: the string that begins here has no closing quote"));
    EXPECT_THAT(why("[\"\\x\"]"),
                HasSubstr("column 2: this string has an escape that stands for no character"));
    EXPECT_THAT(why("{\"\\udc00\":1}"), HasSubstr("column 2: this string has an escape"));
    EXPECT_THAT(why("\"\\u12 4\""), HasSubstr("four hexadecimal digits"));
    EXPECT_THAT(why("\"\\u-123\""), HasSubstr("four hexadecimal digits"));
    EXPECT_THAT(why("[01]"), HasSubstr("column 2: 01 is not a JSON number"));
    EXPECT_THAT(why("[0x10]"), HasSubstr("0x10 is not a JSON number"));
    EXPECT_THAT(why("{\"a\":[1}"), HasSubstr("column 8: a comma or ] is expected, not }"));
    EXPECT_THAT(why("[[1]"), HasSubstr("column 5: a comma or ] is expected, not the end of the text"));
    EXPECT_THAT(why(" ]"), HasSubstr("column 2: a value"));
    EXPECT_THAT(why("1 2"), HasSubstr("column 3: the end of the text is expected, not 2"));
    EXPECT_THAT(why("1 ,2"), HasSubstr("column 3: the end of the text is expected, not ,"));
    EXPECT_THAT(why("[] ] ["), HasSubstr("column 4: the end of the text is expected, not ]"));
    EXPECT_THAT(why("null :"), HasSubstr("column 6: the end of the text is expected, not :"));
    EXPECT_THAT(why(std::string_view("{\0}", 3)), HasSubstr("not the control character U+0000"));
}

TEST(json, numbers_that_no_reader_could_hold_are_refused_naming_place_and_value) {
    const auto why = [](std::string_view text) { return parse_json(text).error().message; };
    EXPECT_THAT(why("{\"attributes\":[{\"key\":\"k\",\"value\":NaN}]}"),
                testing::StartsWith("attributes[0].value is NaN; it must be a JSON value"));
    EXPECT_THAT(why("[[1],[2,-Infinity]]"), testing::StartsWith("[1][1] is -Infinity;"));
    EXPECT_THAT(why("{\"a\":[{\"b\":1e400}]}"),
                testing::StartsWith("a[0].b is 1e400; a number must be from"));
    EXPECT_THAT(why("NaN"), testing::StartsWith("the body is NaN;"));
    EXPECT_THAT(why(std::string(400, '9')), HasSubstr("999…; a number must be from"));
    EXPECT_THAT(why("{\"" + std::string(59, 'x') + "\xE2\x82\xAC\":NaN}"), HasSubstr("xxx… is NaN"))
        << "a long name is cut between characters";
}

TEST(json, a_member_twice_is_refused_naming_it) {
    const auto why = [](std::string_view text) { return parse_json(text).error().message; };
    EXPECT_THAT(why("{\"a\":1,\"b\":2,\"a\":1}"), testing::StartsWith("a is there twice;"));
    EXPECT_THAT(why("{\"x\":[0,{\"y\":{\"a\":1,\"\\u0061\":2}}]}"),
                testing::StartsWith("x[1].y.a is there twice;"));
    std::string many = "{";
    for (int i = 0; i < 1'000; ++i) many += "\"m" + std::to_string(i) + "\":1,";
    EXPECT_TRUE(parse_json(many + "\"m1000\":1}"));
    EXPECT_THAT(why(many + "\"m500\":1}"), testing::StartsWith("m500 is there twice;"));
    EXPECT_TRUE(parse_json("[{\"a\":1},{\"a\":1}]"));
}

TEST(json, fractions_of_many_digits_become_the_nearest_double) {
    EXPECT_EQ(
        again("[0.1234567890123456789012345678901,-922337203685477580800.5,1.00500000000000000000001e2]"),
        "[0.12345678901234568,-922337203685477580800.0,100.5]");
}

TEST(json, integers_of_any_length_keep_their_digits) {
    EXPECT_EQ(again("[123456789012345678901234567890,18446744073709551616,18446744073709551615]"),
              "[123456789012345678901234567890,18446744073709551616,18446744073709551615]");
    EXPECT_EQ(again("[-9223372036854775808,-9223372036854775809,1e30]"),
              "[-9223372036854775808,-9223372036854775809,1e+30]");
}

TEST(json, a_long_text_is_read_like_a_short_one) {
    const std::string text = "[\"" + std::string(3 * 1024 * 1024, 'x') + "\",1]";
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(again("[2]"), "[2]");
}

TEST(json, depth_is_bounded) {
    EXPECT_EQ(again(std::string(64, '[') + std::string(64, ']')).substr(0, 2), "[[");
    EXPECT_THAT(again(std::string(65, '[') + std::string(65, ']')),
                HasSubstr("column 65: arrays and objects"));
    EXPECT_THAT(again(std::string(10'000, '[') + std::string(10'000, ']')), HasSubstr("refused"));
}

TEST(json, integers_are_strings_in_the_registry_dialect_and_numbers_elsewhere) {
    model_version version;
    version.id.value = 12;
    EXPECT_THAT(to_json_object(version, integers::as_strings), HasSubstr("\"id\":\"12\""));
    EXPECT_THAT(to_json_object(version, integers::as_numbers), HasSubstr("\"id\":12,"));
}

TEST(json, clients_may_send_strings_or_numbers_names_or_numbers_and_defaults) {
    const auto read = [](const char* text) { return *from_json<model_version>(*parse_json(text)); };
    EXPECT_EQ(read("{\"id\":\"12\"}").id.value, 12u);
    EXPECT_EQ(read("{\"id\":12}").id.value, 12u);
    EXPECT_EQ(read("{\"id\":12.0}").id.value, 12u);
    EXPECT_EQ(read("{\"owner\":\"\"}").owner.value, 0u) << "an id that clients keep as text";
    EXPECT_EQ(read("{\"stage\":3}").stage, stage::production);
    EXPECT_EQ(read("{\"stage\":\"PRODUCTION\"}").stage, stage::production);
    EXPECT_EQ(read("{\"archived\":true}").archived, ternary::true_);
    EXPECT_EQ(read("{\"labels\":null,\"unknown\":[{}]}").labels.size(), 0u);
}

TEST(json, what_is_read_only_is_known_in_a_body_but_not_read_and_is_shown) {
    unknown_members unknown;
    const auto sent = from_json<artifact>(*parse_json(R"({"key":"k","upload_completed":true})"), &unknown);
    ASSERT_TRUE(sent);
    EXPECT_FALSE(sent->upload_completed);
    EXPECT_TRUE(unknown.found.empty());
    EXPECT_THAT(to_json_object(*sent, integers::as_strings), HasSubstr(R"("upload_completed":false)"));
}

TEST(json, the_members_of_a_base_are_read_and_shown_as_a_types_own) {
    const auto version = from_json<model_version>(*parse_json(R"({"id":"7","description":"d"})"));
    ASSERT_TRUE(version);
    EXPECT_EQ(version->description, "d");
    const auto again = decode<model_version>(encode(*version));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->description, "d");
    EXPECT_THAT(to_json_object(*again, integers::as_strings), HasSubstr(R"("description":"d")"));
}

TEST(json, each_of_both_visits_each_member_of_two_values_once) {
    version_content left, right;
    right.version = "v";
    right.apis = {"a"};
    std::size_t members = 0;
    each_of_both(left, right, [&](std::string_view, auto& mine, const auto& theirs) {
        ++members;
        mine = theirs;
    });
    EXPECT_EQ(members, 17u);
    EXPECT_EQ(encode(left), encode(right));
}

TEST(json, wrong_types_name_the_member_its_value_and_what_would_be_right) {
    const auto refused = [](const char* text) {
        return from_json<model_version>(*parse_json(text)).error().message;
    };
    EXPECT_EQ(refused("{\"archived\":3}"), "archived is 3; it must be one of UNKNOWN TRUE FALSE");
    EXPECT_EQ(
        refused("{\"id\":\"x\"}"),
        "id is \"x\"; it must be an integer of 0 or more (a number or its decimal text, without leading "
        "zeros)");
    const std::string_view largest = "must be an integer from 0 to 9223372036854775807";
    for (const char* number : {"9223372036854775808", "\"18446744073709551616\"", "-1", "\"-1\"", "1e20"})
        EXPECT_THAT(refused(("{\"id\":" + std::string(number) + "}").c_str()), HasSubstr(largest)) << number;
    for (const char* number : {"18446744073709551615", "\"-9223372036854775809\""})
        EXPECT_THAT(refused(("{\"time_updated\":" + std::string(number) + "}").c_str()),
                    HasSubstr("must be an integer from -9223372036854775808 to 9223372036854775807"))
            << number;
    for (const char* none :
         {"\"-\"", "\"1x\"", "1.5", "true", "\"02\"", "\"00\"", "\"+2\"", "\" 2\"", "\"2 \"", "\"-0\""})
        EXPECT_THAT(refused(("{\"id\":" + std::string(none) + "}").c_str()),
                    HasSubstr("integer of 0 or more"))
            << none;
    EXPECT_THAT(refused("{\"stage\":\"LIVE\"}"), HasSubstr("one of UNKNOWN DEVELOPMENT"));
    EXPECT_EQ(refused("{\"attributes\":[{\"key\":1}]}"), "attributes[0].key is 1; it must be a string");
    EXPECT_THAT(refused("[]"), HasSubstr("a JSON object"));
}

struct with_ids {
    std::vector<model_id> ids;

    static constexpr void describe(auto& self, auto&& field) { field(1, "ids", self.ids); }
};

TEST(json, an_id_in_a_list_is_never_missing) {
    const auto read = [](const std::string& ids) {
        return from_json<with_ids>(*parse_json("{\"ids\":[" + ids + "]}"));
    };
    EXPECT_EQ(read("\"7\",8")->ids, (std::vector{model_id{7}, model_id{8}}));
    for (const char* none : {"\"\"", "0", "\"0\""})
        EXPECT_EQ(read("7," + std::string(none)).error().message,
                  "ids[1] is " + std::string(none) + "; it must be an id; ids begin at 1");
    EXPECT_THAT(read("null").error().message, HasSubstr("ids[0] is null; it must be"));
}

TEST(json, members_that_a_type_does_not_have_are_told_with_the_nearest_name) {
    const auto unknown = [](const char* text) {
        unknown_members found;
        EXPECT_TRUE(from_json<model_version>(*parse_json(text), &found));
        std::string out;
        for (const unknown_member& each : found.found) out += each.path + "~" + each.nearest + " ";
        return out;
    };
    EXPECT_EQ(unknown("{\"version\":\"v\",\"descripton\":\"x\",\"colour\":1}"),
              "descripton~description colour~ ");
    EXPECT_EQ(unknown("{\"attributes\":[{\"key\":\"a\"},{\"key\":\"b\",\"valeu\":1}]}"),
              "attributes[1].valeu~value ");
    EXPECT_EQ(
        unknown("{\"environment\":{\"anything\":1},\"attributes\":[{\"key\":\"a\",\"value\":{\"x\":1}}]}"),
        "")
        << "what is opaque has no names";
    EXPECT_EQ(unknown("{\"a\":0,\"b\":\"\",\"c\":[],\"d\":{},\"e\":null,\"f\":false,\"g\":\"0\",\"h\":0.0}"),
              "")
        << "clients send what nobody set";
    EXPECT_EQ(unknown("{\"a1\":1,\"a2\":1,\"a3\":1,\"a4\":1,\"a5\":1,\"a6\":1}"), "a1~ a2~ a3~ a4~ a5~ ");
    EXPECT_EQ(unknown("{\"workspace_id\":\"7\"}"), "workspace_id~ ") << "never shown, never read";
}

TEST(views, a_promote_body_holds_texts_only) {
    model_version version;
    version.id.value = 1;
    version.attributes = {{"text", {"\"a\""}, {}}, {"number", {"1.5"}, {}}, {"nothing", {}, {}}};
    const auto parsed = parse_json(promote_body(version));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed->find("id"), json_value("1"));
    EXPECT_EQ(to_json_text(*parsed->find("attributes")),
              "[{\"key\":\"text\",\"value\":\"a\"},{\"key\":\"number\",\"value\":\"1.5\"},"
              "{\"key\":\"nothing\",\"value\":\"null\"}]");
}

}  // namespace
}  // namespace herald::test
