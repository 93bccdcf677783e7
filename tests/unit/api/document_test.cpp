// Protects the OpenAPI document: every operation answers what the document says, no member more and none
// less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "api/calls/path_parameters.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/delivery_headers.hpp"
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

    const schemas::json_value& operation_named(std::string_view name) {
        const auto all = api::routes::all_routes();
        const auto row =
            std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
        return member(document(), {"paths", row->pattern, runtime::to_lower(name_of(row->method))});
    }
    const schemas::json_value& parameter_of(std::string_view operation, std::string_view name) {
        for (const schemas::json_value& each :
             *member(operation_named(operation), {"parameters"}).get_if<schemas::json_array>())
            if (const schemas::json_value* own = each.find("name");
                own && *own->get_if<std::string>() == name)
                return each;
        throw std::logic_error(std::string(operation) + " has no parameter " + std::string(name));
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
        if (row.is_absent || row.is_page) continue;
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

/// The schema's reference, as text; that of the alternative that an answer has, where null is another.
std::string reference_of(const schemas::json_value& schema) {
    const schemas::json_value* const found = schema.find("$ref");
    return found ? *found->get_if<std::string>() : std::string();
}

/// The schema of the value at the pointer, in what a schema describes.
const schemas::json_value& described_at(const schemas::json_value& document, const schemas::json_value& whole,
                                        std::string_view pointer) {
    const schemas::json_value* at = &whole;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view name = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(name.size());
        const std::string reference = reference_of(*at);
        if (!reference.empty())
            at = &member(document, {"components", "schemas", std::string_view(reference).substr(21)});
        at = &member(*at, {"properties", name});
    }
    return *at;
}

TEST_F(openapi_document, gives_each_id_one_type_so_that_what_is_answered_can_be_asked_for) {
    std::size_t compared = 0;
    for (const api::calls::route& row : api::routes::all_routes()) {
        if (row.is_page) continue;
        const schemas::json_value* const success =
            member(document(), {"paths", row.pattern, runtime::to_lower(name_of(row.method)), "responses"})
                .find("200");
        const schemas::json_value* const links = success ? success->find("links") : nullptr;
        if (!links) continue;
        const schemas::json_value& answer = member(*success, {"content", "application/json", "schema"});
        for (const auto& [name, link] : *links->get_if<schemas::json_object>())
            for (const auto& [parameter, source] :
                 *member(link, {"parameters"}).get_if<schemas::json_object>()) {
                const std::string& text = *source.get_if<std::string>();
                constexpr std::string_view of_answer = "$response.body#";
                if (!text.starts_with(of_answer)) continue;
                const std::string answered =
                    reference_of(described_at(document(), answer, text.substr(of_answer.size())));
                const std::string asked = reference_of(member(parameter_of(name, parameter), {"schema"}));
                if (parameter == "version_or_name") continue;  // an id, too
                EXPECT_EQ(answered, asked) << row.name << " -> " << name << "." << parameter;
                if (!asked.empty()) ++compared;
            }
    }
    EXPECT_GE(compared, 30u);
}

TEST_F(openapi_document, types_the_ids_in_paths_as_the_answers_have_them) {
    const auto type_in_path = [&](std::string_view operation, std::string_view name) {
        return schemas::to_json_text(member(parameter_of(operation, name), {"schema"}));
    };
    const auto reference = [](const char* name) {
        return R"({"$ref":"#/components/schemas/)" + std::string(name) + R"("})";
    };
    EXPECT_EQ(type_in_path("get_version", "version"), reference("version_id"));
    EXPECT_EQ(type_in_path("get_build", "build"), reference("build_id"));
    EXPECT_EQ(type_in_path("get_endpoint", "endpoint"), reference("endpoint_id"));
    EXPECT_EQ(type_in_path("get_endpoint", "workspace"), R"({"type":"string"})") << "a name";
    EXPECT_EQ(type_in_path("list_builds", "model_version_id"), reference("version_id"));
    EXPECT_EQ(node.get("/api/v1/deployment/builds?model_version_id=007").status(), 400)
        << "each id has one text";
    const auto is = [&](std::string_view name, std::string_view word) {
        return *member(document(), {"components", "schemas", name, word}).get_if<std::string>();
    };
    EXPECT_EQ(is("version_id", "type") + is("version_id", "pattern"), "string^(0|[1-9][0-9]*)$");
    EXPECT_EQ(is("build_id", "type"), "integer");
    EXPECT_EQ(is("endpoint_id", "type") + is("endpoint_id", "format"), "stringuuid");
}

TEST_F(openapi_document, knows_what_each_parameter_of_a_path_holds) {
    std::set<std::string_view> used;
    for (const api::calls::route& row : api::routes::all_routes())
        for (std::size_t open = row.is_page ? row.pattern.npos : row.pattern.find('{');
             open != row.pattern.npos; open = row.pattern.find('{', open + 1))
            used.insert(row.pattern.substr(open + 1, row.pattern.find('}', open) - open - 1));
    for (const std::string_view name : used) EXPECT_TRUE(api::calls::type_of_path_parameter(name)) << name;
}

TEST_F(openapi_document, says_what_subscribers_are_sent) {
    const schemas::json_value& webhooks = member(document(), {"webhooks"});
    for (const char* name : {"promote", "request_scan", "create", "read", "update", "delete", "test"}) {
        const schemas::json_value& sent = member(webhooks, {name, "post"});
        EXPECT_NE(reference_of(member(sent, {"requestBody", "content", "application/json", "schema"})), "")
            << name;
        const auto& headers = *member(sent, {"parameters"}).get_if<schemas::json_array>();
        const std::size_t of_tests = std::string_view(name) == "test" ? 0 : 1;
        EXPECT_EQ(headers.size(), schemas::delivery_headers.size() - of_tests) << name;
    }
    EXPECT_TRUE(
        member(document(), {"paths", "/api/v1/uac-proxy/events/createWebhook", "post"}).find("callbacks"));
}

TEST_F(openapi_document, says_which_rights_a_caller_needs) {
    const auto said = [&](std::string_view operation) {
        return *member(operation_named(operation), {"description"}).get_if<std::string>();
    };
    EXPECT_EQ(said("get_build"), "Needs READ on ENDPOINT or READ on REGISTERED_MODEL.");
    EXPECT_EQ(said("get_scan"), said("get_build"));
    EXPECT_EQ(said("report_scan"), "Needs UPDATE on REGISTERED_MODEL, or a role that reports scans.");
    EXPECT_EQ(said("create_build"), "Needs DEPLOY or CREATE on ENDPOINT.");
    EXPECT_EQ(schemas::to_json_text(member(document(), {"security"})),
              R"([{"email":[],"developer_key":[]},{"basic":[]}])");
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
        if (row.is_absent || row.is_page) continue;
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
        EXPECT_TRUE(schema.find("properties") || schema.find("description")) << name;
    for (const auto& [name, schema] : *schemas_of_all.get_if<schemas::json_object>())
        if (schema.find("properties"))
            for (const auto& [property, said] :
                 *member(schema, {"properties"}).get_if<schemas::json_object>())
                EXPECT_TRUE(schemas::to_json_text(said).find("\"$ref\"") != std::string::npos ||
                            said.find("description"))
                    << name << "." << property;
}

}  // namespace
}  // namespace herald::test
