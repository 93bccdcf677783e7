// Protects every row of the route table: it answers only callers who identify themselves, and says what is
// wrong with a body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/http/limits.hpp"
#include "runtime/text.hpp"
#include "tests/unit/api/route_world.hpp"

namespace herald::test {
namespace {

class route_table : public route_world {};

TEST_F(route_table, a_caller_who_does_not_show_who_he_is_gets_401_whatever_he_sends) {
    const caller wrong_key{node.administrator.email, "wrong"};
    const caller nobody{"nobody@example.org", node.administrator.key};
    for (const caller* who : {static_cast<const caller*>(nullptr), &wrong_key, &nobody})
        for (const api::calls::route& row : api::routes::all_routes()) {
            if (is_open(row)) continue;
            for (const std::string_view body : {"", "[]", "{", "{}"})
                expect_error(ask(who, row, body), 401, error_code::unauthenticated,
                             "Grpc-Metadata-developer_key", row);
        }
}

TEST_F(route_table, a_body_that_is_no_json_object_is_400_and_told_what_it_is) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        const std::string kind = row.name == "set_build_message" ? "a JSON string" : "a JSON object";
        expect_error(ask(&node.administrator, row, "[]"), 400, error_code::invalid_argument,
                     "the body is an array; it must be " + kind, row);
        expect_error(ask(&node.administrator, row, "17"), 400, error_code::invalid_argument,
                     "the body is a number; it must be " + kind, row);
        expect_error(ask(&node.administrator, row, "{\"name\":"), 400, error_code::invalid_argument, "JSON",
                     row);
    }
}

TEST_F(route_table, a_body_over_the_limit_is_413_to_anybody) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.method == runtime::http::http_method::get || row.is<api::calls::streamed_row>()) continue;
        const std::string large(row.body_bytes_max + 1, ' ');
        for (const caller* who : {static_cast<const caller*>(nullptr), &node.administrator})
            expect_error(ask(who, row, large), 413, error_code::resource_exhausted,
                         std::to_string(row.body_bytes_max), row);
    }
}

TEST_F(route_table, an_id_of_nothing_is_404_and_named) {
    for (const api::calls::route& row : api::routes::all_routes()) {
        const std::size_t last = row.pattern.rfind('{');
        if (row.method != runtime::http::http_method::get || last == row.pattern.npos || is_open(row) ||
            row.is_absent)
            continue;
        const std::size_t end = row.pattern.find('}', last);
        std::string pattern(row.pattern.substr(0, last));
        api::calls::route before = row;
        before.pattern = pattern;
        const std::string path = path_of(before) + "987654321" + std::string(row.pattern.substr(end + 1));
        expect_error(node.get(path + query_of_sample(row)), 404, error_code::not_found, "987654321", row);
    }
}

TEST_F(route_table, the_openapi_document_has_every_row) {
    const reply document = node.ask(nullptr, "GET", "/api/openapi.json");
    ASSERT_EQ(document.status(), 200);
    const auto whole = schemas::parse_json(document.body());
    ASSERT_TRUE(whole);
    const schemas::json_value* const paths = whole->find("paths");
    ASSERT_TRUE(paths);
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.is_page) continue;
        const schemas::json_value* const path = paths->find(row.pattern);
        const schemas::json_value* const operation =
            path ? path->find(runtime::to_lower(name_of(row.method))) : nullptr;
        const schemas::json_value* const summary = operation ? operation->find("summary") : nullptr;
        ASSERT_TRUE(summary) << row.pattern;
        EXPECT_EQ(*summary->get_if<std::string>(), row.summary);
    }
}

TEST_F(route_table, each_row_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (const api::calls::route& row : api::routes::all_routes())
        EXPECT_TRUE(!row.name.empty() && names.insert(row.name).second) << row.pattern;
}

TEST_F(route_table, a_query_parameter_that_is_missing_is_400_and_named) {
    int rows = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.query.empty() || !row.query.front().is_required || is_open(row)) continue;
        ++rows;
        expect_error(ask(&node.administrator, row, ""), 400, error_code::invalid_argument,
                     "the query parameter " + std::string(row.query.front().name) + " is missing", row);
    }
    EXPECT_GT(rows, 0);
}

TEST_F(route_table, a_required_member_that_is_missing_is_400_and_named) {
    int rows = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        const schemas::json_value* required = schema_of_body(row).find("required");
        if (!required) continue;
        ++rows;
        const std::string first = *required->get_if<schemas::json_array>()->front().get_if<std::string>();
        for (const std::string& body : {std::string("{}"), "{\"" + first + "\":null}"})
            expect_error(ask(&node.administrator, row, body), 400, error_code::invalid_argument,
                         first + " is missing; it must be ", row);
    }
    EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace herald::test
