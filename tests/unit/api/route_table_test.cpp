// Protects every row of the table of routes: it answers, only to callers who show who they are, and tells
// what is wrong with a body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/routes/routes.hpp"
#include "runtime/limits.hpp"
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
                      {"build", build.at("id")},
                      {"name", "promote_events"},
                      {"org", "1"},
                      {"group", "1"}};
    }

    static bool has_body(const api::calls::route& row) { return !row.request_schema.empty(); }

    /// The path with what is there in its parameters.
    std::string path_of(const api::calls::route& row) {
        // One pattern has the version's name where others have its id, and one the model's id under that
        // name.
        const bool is_by_names = row.pattern.find("{model}/model_versions/{version}") != row.pattern.npos;
        const bool is_model_by_id = row.pattern.ends_with("/registry/registered_models/{model}");
        std::string path;
        std::string_view rest = row.pattern;
        while (!rest.empty()) {
            const std::size_t begin = std::min(rest.find('{'), rest.size());
            path += rest.substr(0, begin);
            rest.remove_prefix(begin);
            if (rest.empty()) break;
            const std::string name(rest.substr(1, rest.find('}') - 1));
            if (name == "version" && is_by_names)
                path += "v";
            else
                path += x_segments.at(name == "model" && is_model_by_id ? "model_id" : name);
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
        if (row.scans && has_body(row)) EXPECT_EQ(got.status(), 200) << where;
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

}  // namespace
}  // namespace herald::test
