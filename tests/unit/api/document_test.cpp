// Protects the OpenAPI document: every operation answers what the document says, no member more and none
// less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
        if (member(said, {"content"}).find("text/plain")) return;
        const auto answer = schemas::parse_json(got.body());
        ASSERT_TRUE(answer) << where;
        const schemas::json_value& schema = member(said, {"content", "application/json", "schema"});
        EXPECT_EQ(misfit(document(), schema, *answer, where), "") << got.body();
    }
};

TEST_F(openapi_document, is_what_every_operation_answers) {
    // In the order of the table: later rows see what earlier ones changed.
    for (const api::calls::route& row : api::routes::all_routes()) {
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
            EXPECT_TRUE(said.find("$ref") || said.find("description")) << name << "." << property;
}

}  // namespace
}  // namespace herald::test
