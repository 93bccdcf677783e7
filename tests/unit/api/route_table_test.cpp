// Protects every row of the table of routes: it answers, only to callers who show who they are, and tells
// what is wrong with a body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/routes/routes.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/text.hpp"
#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// With something behind every path of the table.
class route_table : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string model = node.model("m");
        const std::string version = node.version(model, "v");
        const reply build =
            node.post("/api/v1/deployment/workspace/Default/builds",
                      R"({"model_version_id":)" + version + R"(,"external_location":"example.org/m"})");
        ASSERT_EQ(build.status(), 200) << build.body();
        x_segments = {{"workspace", "Default"},
                      {"model", "m"},
                      {"model_id", model},
                      {"version", version},
                      {"version_or_name", "v"},
                      {"build", build.at("id")},
                      {"name", "promote_events"},
                      {"org", "1"},
                      {"group", "1"}};
    }

    static bool has_body(const api::calls::route& row) { return row.has_body(); }

    /// The path with what is there in its parameters.
    std::string path_of(const api::calls::route& row) {
        std::string path;
        std::string_view rest = row.pattern;
        while (!rest.empty()) {
            const std::size_t begin = std::min(rest.find('{'), rest.size());
            path += rest.substr(0, begin);
            rest.remove_prefix(begin);
            if (rest.empty()) break;
            const std::string name(rest.substr(1, rest.find('}') - 1));
            path += x_segments.at(name);
            rest.remove_prefix(rest.find('}') + 1);
        }
        return path;
    }

    reply ask(const caller* who, const api::calls::route& row, std::string_view body,
              std::string_view query = "") {
        return node.ask(who, name_of(row.method), path_of(row) + std::string(query), body);
    }

    /// The error that wire.md §1 describes; the one text says what was wrong.
    static void expect_error(const reply& got, int status, error_code code, const std::string& text,
                             const api::calls::route& row) {
        const std::string where = std::string(name_of(row.method)) + " " + std::string(row.pattern);
        EXPECT_EQ(got.status(), status) << where << ": " << got.body();
        EXPECT_EQ(got.at("code"), std::to_string(static_cast<int>(code))) << where;
        EXPECT_THAT(got.at("message"), HasSubstr(text)) << where;
        EXPECT_EQ(got.at("error"), got.at("message")) << where;
        EXPECT_EQ(got.at("details"), "[]") << where;
    }

    static const schemas::json_value& member(const schemas::json_value& at,
                                             const std::vector<std::string_view>& path) {
        const schemas::json_value* found = &at;
        for (const std::string_view name : path) {
            found = found->find(name);
            if (!found) throw std::logic_error("the document has no " + std::string(name));
        }
        return *found;
    }

    /// What a reference leads to.
    static const schemas::json_value& resolved(const schemas::json_value& document,
                                               const schemas::json_value& schema) {
        const schemas::json_value* reference = schema.find("$ref");
        if (!reference) return schema;
        const std::string& text = *reference->get_if<std::string>();
        return member(document,
                      {"components", "schemas", std::string_view(text).substr(text.rfind('/') + 1)});
    }

    static const schemas::json_value& schema_of_body(const schemas::json_value& document,
                                                     const api::calls::route& row) {
        return resolved(document,
                        member(document, {"paths", row.pattern, runtime::to_lower(name_of(row.method)),
                                          "requestBody", "content", "application/json", "schema"}));
    }

    /// Every member is described, every required one is there, and all have the type that is told.
    static void expect_described(const schemas::json_value& document, const schemas::json_value& said,
                                 const schemas::json_value& value, const std::string& where) {
        const schemas::json_value& schema = resolved(document, said);
        const schemas::json_value* type = schema.find("type");
        if (!type) return;  // any JSON
        const std::map<std::string_view, std::string_view> kinds{{"a boolean", "boolean"},
                                                                 {"a number", "integer"},
                                                                 {"a string", "string"},
                                                                 {"an array", "array"},
                                                                 {"an object", "object"}};
        ASSERT_EQ(kinds.at(value.kind_text()), *type->get_if<std::string>()) << where;
        if (const auto* items = value.get_if<schemas::json_array>())
            for (const schemas::json_value& each : *items)
                expect_described(document, member(schema, {"items"}), each, where + "[]");
        const auto* members = value.get_if<schemas::json_object>();
        if (!members) return;
        for (const auto& [name, each] : *members) {
            const schemas::json_value* known = member(schema, {"properties"}).find(name);
            ASSERT_TRUE(known) << where << "." << name << " is not in the document";
            expect_described(document, *known, each, where + "." + name);
        }
        if (const schemas::json_value* required = schema.find("required"))
            for (const schemas::json_value& name : *required->get_if<schemas::json_array>())
                EXPECT_TRUE(value.find(*name.get_if<std::string>()))
                    << where << " lacks " << *name.get_if<std::string>();
    }

    node_without_sockets node;

  private:
    std::map<std::string, std::string> x_segments;
};

TEST_F(route_table, a_caller_who_does_not_show_who_he_is_gets_401_whatever_he_sends) {
    const caller wrong_key{node.administrator.email, "wrong"};
    const caller nobody{"nobody@example.org", node.administrator.key};
    for (const caller* who : {static_cast<const caller*>(nullptr), &wrong_key, &nobody})
        for (const api::calls::route& row : api::routes::all_routes())
            for (const std::string_view body : {"", "[]", "{", "{}"})
                expect_error(ask(who, row, body), 401, error_code::unauthenticated,
                             "Grpc-Metadata-developer_key", row);
}

TEST_F(route_table, a_body_that_is_no_json_object_is_400_and_told_what_it_is) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!has_body(row)) continue;
        expect_error(ask(&node.administrator, row, "[]"), 400, error_code::invalid_argument,
                     "the body is an array; it must be a JSON object", row);
        expect_error(ask(&node.administrator, row, "17"), 400, error_code::invalid_argument,
                     "the body is a number; it must be a JSON object", row);
        expect_error(ask(&node.administrator, row, "{\"name\":"), 400, error_code::invalid_argument, "JSON",
                     row);
    }
}

TEST_F(route_table, a_body_over_the_limit_is_413_to_anybody) {
    const std::string large(limits::management_body_bytes_max + 1, ' ');
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.method == runtime::http::http_method::get) continue;
        for (const caller* who : {static_cast<const caller*>(nullptr), &node.administrator})
            expect_error(ask(who, row, large), 413, error_code::resource_exhausted,
                         std::to_string(limits::management_body_bytes_max), row);
    }
}

TEST_F(route_table, without_a_body_a_route_answers_or_says_what_is_missing) {
    // In the order of the table: what one row changes, later ones may find.
    for (const api::calls::route& row : api::routes::all_routes()) {
        const reply got = ask(&node.administrator, row, "");
        const std::string where =
            std::string(name_of(row.method)) + " " + std::string(row.pattern) + ": " + got.body();
        EXPECT_THAT(got.status(), AnyOf(200, 400, 404, 409)) << where;
        if (got.status() == 200)
            EXPECT_TRUE(schemas::parse_json(got.body())) << where;
        else
            EXPECT_THAT(got.at("message"), Not("")) << where;
        // What is there is found.
        if (row.method == runtime::http::http_method::get && row.pattern.find('{') != row.pattern.npos)
            EXPECT_EQ(got.status(), 200) << where;
        if (row.cost == api::calls::cost::long_read && has_body(row)) EXPECT_EQ(got.status(), 200) << where;
    }
}

TEST_F(route_table, an_id_of_nothing_is_404_and_named) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        const std::size_t last = row.pattern.rfind('{');
        if (row.method != runtime::http::http_method::get || last == row.pattern.npos) continue;
        const std::size_t end = row.pattern.find('}', last);
        std::string pattern(row.pattern.substr(0, last));
        api::calls::route before = row;
        before.pattern = pattern;
        const std::string path = path_of(before) + "987654321" + std::string(row.pattern.substr(end + 1));
        expect_error(node.get(path), 404, error_code::not_found, "987654321", row);
    }
}

TEST_F(route_table, the_openapi_document_has_every_row) {
    const reply document = node.ask(nullptr, "GET", "/api/openapi.json");
    ASSERT_EQ(document.status(), 200);
    for (const api::calls::route& row : api::routes::all_routes())
        EXPECT_EQ(document.at("paths." + std::string(row.pattern) + "." +
                              runtime::to_lower(name_of(row.method)) + ".summary"),
                  row.summary);
}

TEST_F(route_table, each_row_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (const api::calls::route& row : api::routes::all_routes())
        EXPECT_TRUE(!row.name.empty() && names.insert(row.name).second) << row.pattern;
}

TEST_F(route_table, a_row_for_system_administrators_refuses_everybody_else) {
    const caller somebody = node.user("somebody@example.org");
    int rows = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.who != api::calls::authentication::system_administrator) continue;
        ++rows;
        expect_error(ask(&somebody, row, "{}"), 403, error_code::permission_denied, "administrator", row);
        EXPECT_NE(ask(&node.administrator, row, "{}").status(), 403) << row.pattern;
    }
    EXPECT_GT(rows, 0);
}

TEST_F(route_table, a_query_parameter_that_is_missing_is_400_and_named) {
    int rows = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.query.empty()) continue;
        ++rows;
        expect_error(ask(&node.administrator, row, ""), 400, error_code::invalid_argument,
                     "the query parameter " + std::string(row.query.front().name) + " is missing", row);
    }
    EXPECT_GT(rows, 0);
}

TEST_F(route_table, a_required_member_that_is_missing_is_400_and_named) {
    const auto document = schemas::parse_json(node.ask(nullptr, "GET", "/api/openapi.json").body());
    ASSERT_TRUE(document);
    int rows = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        const schemas::json_value* required = schema_of_body(*document, row).find("required");
        if (!required) continue;
        ++rows;
        const std::string first = *required->get_if<schemas::json_array>()->front().get_if<std::string>();
        for (const std::string& body : {std::string("{}"), "{\"" + first + "\":null}"})
            expect_error(ask(&node.administrator, row, body), 400, error_code::invalid_argument,
                         first + " is missing; it must be ", row);
    }
    EXPECT_GT(rows, 0);
}

TEST_F(route_table, the_documents_examples_hold_nothing_unknown_and_lack_nothing) {
    const auto document = schemas::parse_json(node.ask(nullptr, "GET", "/api/openapi.json").body());
    ASSERT_TRUE(document);
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        const schemas::json_value* example = schema_of_body(*document, row).find("example");
        ASSERT_TRUE(example) << row.name;
        const reply got = node.ask(&node.administrator, name_of(row.method), path_of(row),
                                   schemas::to_json_text(*example), "Prefer: handling=strict\r\n");
        EXPECT_THAT(got.at("message"), Not(AnyOf(HasSubstr("unknown"), HasSubstr("missing"),
                                                 HasSubstr("strict"), HasSubstr("must be"))))
            << row.name << ": " << got.body();
    }
}

TEST_F(route_table, every_answer_is_what_the_document_says_no_member_more_and_none_less) {
    const auto document = schemas::parse_json(node.ask(nullptr, "GET", "/api/openapi.json").body());
    ASSERT_TRUE(document);
    const std::map<std::string_view, std::string> queries{{"get_user", "?email=" + node.administrator.email},
                                                          {"get_workspace_by_id", "?id=1"},
                                                          {"get_workspace_by_name", "?name=Default"},
                                                          {"get_organization_by_name", "?org_name=Default"},
                                                          {"list_builds", "?model_version_id=1"}};
    int answers = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        const auto query = queries.find(row.name);
        const schemas::json_value* example = nullptr;
        if (row.has_body()) example = schema_of_body(*document, row).find("example");
        const reply got = ask(&node.administrator, row, example ? schemas::to_json_text(*example) : "",
                              query == queries.end() ? "" : query->second);
        if (got.status() != 200) {
            EXPECT_TRUE(row.has_body()) << row.name << ": " << got.body();
            continue;
        }
        ++answers;
        const auto answer = schemas::parse_json(got.body());
        ASSERT_TRUE(answer) << row.name;
        const schemas::json_value& said =
            member(*document, {"paths", row.pattern, runtime::to_lower(name_of(row.method)), "responses",
                               "200", "content", "application/json", "schema"});
        expect_described(*document, said, *answer, std::string(row.name));
    }
    EXPECT_GT(answers, 30);
}

}  // namespace
}  // namespace herald::test
