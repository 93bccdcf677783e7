// Property: JSON is read and written as the contract says (wire.md §1), and bad JSON is refused saying what
// is wrong.
#include <gmock/gmock.h>

#include <cmath>

#include "schemas/json_codec.hpp"
#include "schemas/registry.hpp"
#include "schemas/views.hpp"

namespace herald::schemas {
namespace {

using testing::HasSubstr;

std::string again(std::string_view text) {
    const auto value = parse_json(text);
    return value ? to_json_text(*value) : "refused: " + value.error().message;
}

TEST(json, values_come_back_unchanged) {
    for (const char* text : {"null", "true", "[]", "{}", "[1,-2,18446744073709551615,1.5,1e+300,0.1]",
                             "\"\\u0001\\\"\\\\\"", "{\"b\":1,\"a\":{\"c\":[null]}}", "\"\xC3\xA4\"", "1.0",
                             "[NaN,Infinity,-Infinity]", "{\"NaN\":\"Infinity\",\"x\":NaN}"})
        EXPECT_EQ(again(text), text);
}

TEST(json, bad_texts_are_refused) {
    for (const char* text : {"",
                             "{",
                             "[1,]",
                             "{\"a\":}",
                             "nul",
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

TEST(json, integers_of_any_length_are_numbers) {
    EXPECT_EQ(again("100000000000000000000"), "1e+20");
    EXPECT_EQ(again("[-99999999999999999999999,\"-99999999999999999999999\"]"),
              "[-1e+23,\"-99999999999999999999999\"]");
    EXPECT_EQ(again("[18446744073709551615,-9223372036854775808,1e30]"),
              "[18446744073709551615,-9223372036854775808,1e+30]");
    EXPECT_THAT(again(std::string(400, '9')), HasSubstr("refused")) << "more than a fraction can hold";
}

TEST(json, texts_that_look_like_special_numbers_stay_texts) {
    EXPECT_EQ(again("[NaN,\"\\u0000NaN\",\"#NaN\",\"=\",\"\",\"\\\"NaN\",{\"#Infinity\" : NaN}]"),
              "[NaN,\"\\u0000NaN\",\"#NaN\",\"=\",\"\",\"\\\"NaN\",{\"#Infinity\":NaN}]");
}

TEST(json, values_that_mean_the_same_have_one_canonical_form) {
    const auto form = [](const char* text) { return to_json_text(canonical(*parse_json(text))); };
    EXPECT_EQ(form("{\"b\":[1.0,-0.0],\"a\":1e19}"), form("{\"a\":10000000000000000000,\"b\":[1,0]}"));
    EXPECT_EQ(form("[NaN,1e20]"), form("[NaN,100000000000000000000]"));
    EXPECT_NE(form("[1,2]"), form("[2,1]"));
    EXPECT_NE(form("9007199254740993"), form("9007199254740992"));
    EXPECT_NE(form("1"), form("\"1\""));
    EXPECT_NE(form("1"), form("true"));
}

TEST(json, depth_is_bounded) {
    EXPECT_EQ(again(std::string(32, '[') + std::string(32, ']')).substr(0, 2), "[[");
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
    EXPECT_TRUE(read("{\"archived\":1}").archived);
    EXPECT_FALSE(read("{\"archived\":0}").archived);
    EXPECT_EQ(read("{\"labels\":null,\"unknown\":[{}]}").labels.size(), 0u);
}

TEST(json, wrong_types_name_the_member_its_value_and_what_would_be_right) {
    const auto refused = [](const char* text) {
        return from_json<model_version>(*parse_json(text)).error().message;
    };
    EXPECT_EQ(refused("{\"id\":\"x\"}"),
              "id is \"x\"; it must be an integer of 0 or more (a number or its decimal text)");
    EXPECT_THAT(refused("{\"stage\":\"LIVE\"}"), HasSubstr("one of UNKNOWN DEVELOPMENT"));
    EXPECT_EQ(refused("{\"attributes\":[{\"key\":1}]}"), "attributes[0].key is 1; it must be a string");
    EXPECT_THAT(refused("[]"), HasSubstr("a JSON object"));
}

TEST(views, a_promote_body_holds_texts_only) {
    model_version version;
    version.id.value = 1;
    version.attributes = {{"text", {"\"a\""}, {}}, {"number", {"1.5"}, {}}};
    const auto body = parse_json(promote_body(version));
    ASSERT_TRUE(body);
    EXPECT_EQ(*body->find("id"), json_value("1"));
    EXPECT_EQ(to_json_text(*body->find("attributes")),
              "[{\"key\":\"text\",\"value\":\"a\"},{\"key\":\"number\",\"value\":\"1.5\"}]");
}

TEST(views, a_user_shows_no_key_unless_it_was_just_made) {
    user user;
    user.primary_key_hash = "secret hash";
    EXPECT_THAT(view_of(user), testing::Not(HasSubstr("key")));
    EXPECT_THAT(view_of(user, "abc"), HasSubstr("\"dev_key\":\"abc\""));
}

}  // namespace
}  // namespace herald::schemas
