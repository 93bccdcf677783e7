// Protects the OpenAPI document: every operation answers what the document says, no member more and none
// less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "runtime/http/limits.hpp"
#include "runtime/text.hpp"
#include "tests/unit/api/route_world.hpp"

namespace herald::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class openapi_document : public route_world {
  protected:
    /// The answer with this status, as the document describes it.
    const schemas::json_value& said_of(const api::calls::route& row, int status) {
        const schemas::json_value& said =
            member(document(), {"paths", row.pattern, runtime::to_lower(name_of(row.method)), "responses",
                                std::to_string(status)});
        const schemas::json_value* reference = said.find("$ref");
        if (!reference) return said;
        const std::string& text = *reference->get_if<std::string>();
        return member(document(),
                      {"components", "responses", std::string_view(text).substr(text.rfind('/') + 1)});
    }

    void expect_described(const api::calls::route& row, const reply& got) {
        const std::string where = std::string(row.name) + " " + std::to_string(got.status());
        const schemas::json_value& said = said_of(row, got.status());
        for (const char* name : {"svc-registry-offset", "svc-registry-stale", "svc-warning"})
            if (!got.header(name).empty())
                EXPECT_TRUE(member(said, {"headers"}).find(name)) << where << " has the header " << name;
        const schemas::json_value& content = member(said, {"content"});
        ASSERT_TRUE(content.find(got.media_type())) << where << " is " << got.media_type();
        if (got.media_type() != "application/json") return;
        const auto answer = schemas::parse_json(got.body());
        ASSERT_TRUE(answer) << where;
        const schemas::json_value& schema = member(said, {"content", "application/json", "schema"});
        EXPECT_EQ(misfit(document(), schema, *answer, where), "") << got.body();
    }
};

/// The value at a JSON pointer; null when there is none.
const schemas::json_value* pointed_at(const schemas::json_value& whole, std::string_view pointer) {
    const schemas::json_value* at = &whole;
    while (at && !pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view name = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(name.size());
        at = at->find(name);
    }
    return at;
}

/// Each link names an operation, and fills all of its parameters from what is there.
void expect_links(const schemas::json_value& links, const api::calls::route& row,
                  const schemas::json_value& answer) {
    constexpr std::string_view of_answer = "$response.body#";
    for (const auto& [name, link] : *links.get_if<schemas::json_object>()) {
        const std::string where = std::string(row.name) + " -> " + name;
        const auto all = api::routes::all_routes();
        const auto target = std::find_if(all.begin(), all.end(), [&](const api::calls::route& each) {
            return each.name == *member(link, {"operationId"}).get_if<std::string>();
        });
        ASSERT_NE(target, all.end()) << where;
        const auto& filled = *member(link, {"parameters"}).get_if<schemas::json_object>();
        EXPECT_GE(filled.size(), std::size_t(std::count(target->pattern.begin(), target->pattern.end(), '{')))
            << where;
        for (const auto& [parameter, source] : filled) {
            const std::string& text = *source.get_if<std::string>();
            if (text.starts_with(of_answer))
                EXPECT_TRUE(pointed_at(answer, text.substr(of_answer.size()))) << where << ": " << text;
            else
                EXPECT_NE(row.pattern.find("{" + parameter + "}"), row.pattern.npos) << where << ": " << text;
        }
    }
}

TEST_F(openapi_document, links_what_is_made_to_what_can_be_done_with_it) {
    std::size_t linked = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.is_absent) continue;
        const reply got = ask_sample(&node.administrator, row);
        const schemas::json_value* links = said_of(row, 200).find("links");
        if (!links) continue;
        const auto answer = schemas::parse_json(got.body());
        ASSERT_TRUE(answer) << row.name;
        expect_links(*links, row, *answer);
        ++linked;
    }
    EXPECT_GE(linked, 5u);
}

TEST_F(openapi_document, has_one_name_for_the_parameters_of_each_place) {
    // Of two paths that differ in names only, nobody could say which one is meant (OpenAPI 3.1 §4.8.8.1).
    std::map<std::string, std::string_view> shapes;
    for (const api::calls::route& row : api::routes::all_routes()) {
        const std::string shape =
            std::regex_replace(std::string(row.pattern), std::regex(R"(\{[^}]*\})"), "{}");
        EXPECT_EQ(shapes.try_emplace(shape, row.pattern).first->second, row.pattern);
    }
}

TEST_F(openapi_document, says_that_what_may_be_absent_may_be_null) {
    const schemas::json_value& user =
        member(document(), {"components", "schemas", "new_user_request", "properties"});
    EXPECT_FALSE(member(user, {"email"}).find("oneOf")) << "without it there is no user";
    const schemas::json_value& name = member(user, {"full_name", "oneOf"});
    EXPECT_EQ(schemas::to_json_text(name), R"([{"type":"string","maxLength":256},{"type":"null"}])");
    const schemas::json_value& names = member(user, {"verta_info", "oneOf"});
    EXPECT_EQ(schemas::to_json_text(names),
              R"([{"$ref":"#/components/schemas/new_user_names_request"},{"type":"null"}])");
}

TEST_F(openapi_document, is_what_every_operation_answers) {
    // In the order of the table: later rows see what earlier ones changed.
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.is_absent) continue;
        const reply got = ask_sample(&node.administrator, row);
        EXPECT_EQ(got.status(), 200) << row.name << " has no sample that succeeds: " << got.body();
        expect_described(row, got);
    }
}

TEST_F(openapi_document, is_what_every_refusal_says) {
    const std::string large(limits::management_body_bytes_max + 1, ' ');
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (is_open(row)) continue;
        expect_described(row, ask_sample(nullptr, row));
        expect_described(row, ask_sample(&stranger, row));
        if (!row.query.empty()) expect_described(row, ask(&node.administrator, row, ""));
        if (!row.has_body()) continue;
        expect_described(row, ask(&node.administrator, row, "[]"));
        expect_described(row, ask(&node.administrator, row, large));
        expect_described(row, ask(&node.administrator, row, "{}", "", "Content-Encoding: gzip\r\n"));
        expect_described(row, ask(&node.administrator, row, R"({"no_such_member":1})"));
    }
}

TEST_F(openapi_document, has_examples_that_fit_and_are_taken_by_strict_callers) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        const schemas::json_value& schema = schema_of_body(row);
        const schemas::json_value& example = member(schema, {"example"});
        EXPECT_EQ(misfit(document(), schema, example, std::string(row.name)), "");
        const reply got =
            ask(&node.administrator, row, schemas::to_json_text(example), "", "Prefer: handling=strict\r\n");
        EXPECT_THAT(got.at("message"),
                    Not(AnyOf(HasSubstr("unknown"), HasSubstr("missing"), HasSubstr("must be"))))
            << row.name << ": " << got.body();
    }
}

/// Checks a schema and everything inside it.
void expect_one_kind_each(const schemas::json_value& at, const std::string& where) {
    if (const auto* items = at.get_if<schemas::json_array>())
        for (const schemas::json_value& each : *items) expect_one_kind_each(each, where + "[]");
    const auto* members = at.get_if<schemas::json_object>();
    if (!members) return;
    for (const auto& [name, each] : *members) {
        if (name == "type")
            EXPECT_FALSE(each.get_if<schemas::json_array>()) << where << " has a list of types";
        expect_one_kind_each(each, where + "." + name);
    }
}

TEST_F(openapi_document, has_no_type_that_is_a_list_and_leaves_nothing_undescribed) {
    const schemas::json_value& schemas_of_all = member(document(), {"components", "schemas"});
    expect_one_kind_each(schemas_of_all, "schemas");
    for (const auto& [name, schema] : *schemas_of_all.get_if<schemas::json_object>())
        for (const auto& [property, said] : *member(schema, {"properties"}).get_if<schemas::json_object>())
            EXPECT_TRUE(schemas::to_json_text(said).find("\"$ref\"") != std::string::npos ||
                        said.find("description"))
                << name << "." << property;
}

}  // namespace
}  // namespace herald::test
