// Protects how finds compare the values of attributes: integers exactly, and only values of one kind.
#include <gtest/gtest.h>

#include "storage/registry/find/find.hpp"
#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::find;
using schemas::find_operator;

class find_values : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = registry.model_named("m");

    /// A version with the attribute k.
    void add(const std::string& name, const std::string& value) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version.version = name;
        command.version.attributes = {{"k", {value}, {}}};
        registry.must<schemas::model_version>(command);
    }
    /// The names of the versions, one letter each.
    std::string found(find_operator op, const char* value) {
        schemas::find_request request;
        request.ascending = true;
        request.predicates.push_back({"attributes.k", {value}, op});
        const auto page = whole(search_versions(*registry.view(), registry.admin, request));
        EXPECT_TRUE(page) << page.error().message;
        std::string all;
        for (const auto& version : page->rows) all += version.version;
        return all;
    }
};

TEST_F(find_values, integers_compare_exactly_and_with_fractions_as_doubles) {
    // Each pair, and the third with the second, is one double.
    const std::pair<const char*, const char*> rows[] = {{"a", "9007199254740992"},
                                                        {"b", "9007199254740993"},
                                                        {"c", "18446744073709551615"},
                                                        {"d", "18446744073709551616"},
                                                        {"e", "1000000000000000000000000000000"},
                                                        {"f", "1000000000000000000000000000001"},
                                                        {"g", "-9007199254740993"},
                                                        {"h", "0.5"}};
    for (const auto& [name, value] : rows) add(name, value);
    EXPECT_EQ(found(find_operator::eq, "9007199254740993"), "b");
    EXPECT_EQ(found(find_operator::gt, "9007199254740992"), "bcdef");
    EXPECT_EQ(found(find_operator::lt, "9007199254740993"), "agh");
    EXPECT_EQ(found(find_operator::in, "[18446744073709551616,1000000000000000000000000000001]"), "df");
    EXPECT_EQ(found(find_operator::gte, "18446744073709551616"), "def");
    EXPECT_EQ(found(find_operator::lte, "-9007199254740993"), "g");
    EXPECT_EQ(found(find_operator::gt, "-9007199254740994"), "abcdefgh");
    EXPECT_EQ(found(find_operator::eq, "9007199254740992.0"), "ab") << "the nearest double of both";
    EXPECT_EQ(found(find_operator::ne, "1e30"), "abcdgh");
}

TEST_F(find_values, values_of_attributes_compare_within_their_kind) {
    const std::pair<const char*, const char*> rows[] = {{"t", "\"text\""},   {"d", "\"9\""},
                                                        {"l", "[\"text\"]"}, {"b", "true"},
                                                        {"n", "9"},          {"o", "{\"a\":1}"}};
    for (const auto& [name, value] : rows) add(name, value);
    EXPECT_EQ(found(find_operator::gt, "4"), "n");
    EXPECT_EQ(found(find_operator::lt, "\"zz\""), "td");
    EXPECT_EQ(found(find_operator::eq, "\"9\""), "d");
    EXPECT_EQ(found(find_operator::eq, "true"), "b");
    EXPECT_EQ(found(find_operator::eq, "{\"a\":1}"), "o");
    EXPECT_EQ(found(find_operator::in, "[9,\"text\"]"), "tn");
    EXPECT_EQ(found(find_operator::ne, "9"), "tdlbo");
    EXPECT_EQ(found(find_operator::contain, "\"tex\""), "tl");
    EXPECT_EQ(found(find_operator::contain, "\"ru\""), "");
}

}  // namespace
}  // namespace herald::test
