#include "tests/unit/api/route_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/text.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;

const std::string stage = "/api/v1/registry/stage/";

const schemas::json_value& resolved(const schemas::json_value& document, const schemas::json_value& schema) {
    const schemas::json_value* reference = schema.find("$ref");
    if (!reference) return schema;
    const std::string& text = *reference->get_if<std::string>();
    const std::size_t kind = text.rfind('/', text.rfind('/') - 1) + 1;
    return member(document, {"components", std::string_view(text).substr(kind, text.rfind('/') - kind),
                             std::string_view(text).substr(text.rfind('/') + 1)});
}

bool has_type(const schemas::json_value& value, const std::string& type) {
    static const std::map<std::string_view, std::vector<std::string_view>> types{
        {"a boolean", {"boolean"}}, {"a number", {"integer", "number"}}, {"a string", {"string"}},
        {"an array", {"array"}},    {"an object", {"object"}},           {"null", {}}};
    const auto& fitting = types.at(value.kind_text());
    return std::find(fitting.begin(), fitting.end(), type) != fitting.end() &&
           !(type == "integer" && value.get_if<double>());
}

std::string misfit_of_members(const schemas::json_value& document, const schemas::json_value& schema,
                              const schemas::json_value& value, const std::string& where) {
    for (const auto& [name, each] : *value.get_if<schemas::json_object>()) {
        const schemas::json_value* known = member(schema, {"properties"}).find(name);
        if (!known) return where + "." + name + " is not in the document";
        if (auto why = misfit(document, *known, each, where + "." + name); !why.empty()) return why;
    }
    if (const schemas::json_value* required = schema.find("required"))
        for (const schemas::json_value& name : *required->get_if<schemas::json_array>())
            if (!value.find(*name.get_if<std::string>()))
                return where + " lacks " + *name.get_if<std::string>();
    return {};
}

}  // namespace

const schemas::json_value& member(const schemas::json_value& at, const std::vector<std::string_view>& path) {
    const schemas::json_value* found = &at;
    for (const std::string_view name : path) {
        found = found->find(name);
        if (!found) throw std::logic_error("the document has no " + std::string(name));
    }
    return *found;
}

std::string misfit(const schemas::json_value& document, const schemas::json_value& said,
                   const schemas::json_value& value, const std::string& where) {
    const schemas::json_value& schema = resolved(document, said);
    if (const schemas::json_value* kinds = schema.find("oneOf")) {
        const auto& all = *kinds->get_if<schemas::json_array>();
        const auto fits = std::count_if(all.begin(), all.end(), [&](const schemas::json_value& kind) {
            return misfit(document, kind, value, where).empty();
        });
        return fits == 1 ? "" : where + " fits " + std::to_string(fits) + " of its kinds";
    }
    const schemas::json_value* type = schema.find("type");
    if (!type) return {};  // any JSON
    if (!has_type(value, *type->get_if<std::string>()))
        return where + " is " + std::string(value.kind_text()) + ", not of the type " +
               *type->get_if<std::string>();
    if (const schemas::json_value* names = schema.find("enum")) {
        const auto& all = *names->get_if<schemas::json_array>();
        if (std::find(all.begin(), all.end(), value) == all.end())
            return where + " is none of the names that the document lists";
    }
    if (const auto* items = value.get_if<schemas::json_array>())
        for (const schemas::json_value& each : *items)
            if (auto why = misfit(document, member(schema, {"items"}), each, where + "[]"); !why.empty())
                return why;
    if (value.get_if<schemas::json_object>()) return misfit_of_members(document, schema, value, where);
    return {};
}

void route_world::SetUp() {
    second = node.second_administrator();
    third = node.administrator_named("third@example.org");
    stranger = node.user("stranger@example.org");
    const std::string model = node.model("m");
    const std::string version = node.version(model, "v");
    const std::string builds = "/api/v1/deployment/workspace/Default/builds";
    const reply build = node.post(
        builds, R"({"model_version_id":)" + version + R"(,"external_location":"registry.example.org/m"})");
    ASSERT_EQ(build.status(), 200) << build.body();
    const std::string promoted = node.version(model, "promoted");
    const std::string never_built = node.version(model, "never built");
    open_transitions(version, never_built);
    promote(promoted);
    for (const char* name : {"deleted", "tested"}) {
        const reply hook = node.post("/api/v1/uac-proxy/events/createWebhook",
                                     R"({"name":")" + std::string(name) +
                                         R"(","location":"https://example.org/","event_types":["CREATE"]})");
        ASSERT_EQ(hook.status(), 200) << hook.body();
    }
    schemas::attempt attempt;
    attempt.status = 200;
    node.tests.answer = attempt;
    x_segments = {{"workspace", "Default"},
                  {"model", "m"},
                  {"model_id", model},
                  {"version", version},
                  {"version_or_name", "v"},
                  {"build", build.at("id")},
                  {"name", "promote_events"},
                  {"org", "1"},
                  {"group", "1"}};
    const std::string update = R"({"description":"d","labels":["l"]})";
    x_samples["get_user"].query = "?email=" + node.administrator.email;
    x_samples["get_workspace_by_id"].query = "?id=1";
    x_samples["get_workspace_by_name"].query = "?name=Default";
    x_samples["get_organization_by_name"].query = "?org_name=Default";
    x_samples["list_builds"].query = "?model_version_id=" + version;
    for (const std::string_view name :
         {"patch_version", "put_version", "patch_version_by_names", "put_version_by_names"})
        x_samples[name].body = update;
    for (const auto& [name, id] : std::map<std::string_view, std::string>{{"approve_transition", "1"},
                                                                          {"reject_transition", "2"},
                                                                          {"close_transition", "3"},
                                                                          {"commit_transition", "4"}})
        x_samples[name].body = R"({"transition_id":")" + id + R"("})";
    x_samples["fail_promotion"].segments = {{"version", promoted}};
    x_samples["request_version_scan"].segments = {{"version", never_built}};
    x_samples["create_version_by_names"].body = R"({"version":"by names"})";
    x_samples["trigger_test"].body = R"({"webhook_id":2})";
}

/// Four, with the ids 1 to 4.
void route_world::open_transitions(const std::string& version, const std::string& other) {
    const std::pair<std::string, const char*> all[] = {
        {version, "DEVELOPMENT"}, {version, "STAGING"}, {version, "ARCHIVED"}, {other, "DEVELOPMENT"}};
    for (const auto& [of, desired] : all) {
        const reply asked =
            node.ask(&third, "POST", stage + "createTransition",
                     R"({"model_version_id":")" + of + R"(","desired_stage":")" + desired + R"("})");
        ASSERT_EQ(asked.status(), 200) << asked.body();
    }
}

void route_world::promote(const std::string& version) {
    const reply asked = node.ask(&third, "POST", stage + "createTransition",
                                 R"({"model_version_id":")" + version + R"(","desired_stage":"PRODUCTION"})");
    const std::string transition = R"({"transition_id":")" + asked.at("activity.id") + R"("})";
    ASSERT_EQ(node.ask(&second, "POST", stage + "approveTransition", transition).status(), 200);
    ASSERT_EQ(node.ask(&third, "POST", stage + "commitTransition", transition).status(), 200);
}

std::string route_world::path_of(const api::calls::route& row) const {
    const auto sample = x_samples.find(row.name);
    std::string path;
    std::string_view rest = row.pattern;
    while (!rest.empty()) {
        const std::size_t begin = std::min(rest.find('{'), rest.size());
        path += rest.substr(0, begin);
        rest.remove_prefix(begin);
        if (rest.empty()) break;
        const std::string_view name = rest.substr(1, rest.find('}') - 1);
        const bool is_own = sample != x_samples.end() && sample->second.segments.contains(name);
        path += is_own ? sample->second.segments.find(name)->second : x_segments.find(name)->second;
        rest.remove_prefix(rest.find('}') + 1);
    }
    return path;
}

reply route_world::ask(const caller* who, const api::calls::route& row, std::string_view body,
                       std::string_view query, std::string_view more) {
    return node.ask(who, name_of(row.method), path_of(row) + std::string(query), body, more);
}

reply route_world::ask_sample(const caller* who, const api::calls::route& row, std::string_view more) {
    const sample& own = x_samples[row.name];
    std::string body = own.body;
    if (body.empty() && row.has_body())
        body = schemas::to_json_text(member(schema_of_body(row), {"example"}));
    return ask(who, row, body, own.query, more);
}

void route_world::expect_error(const reply& got, int status, error_code code, const std::string& text,
                               const api::calls::route& row) {
    const std::string where = std::string(name_of(row.method)) + " " + std::string(row.pattern);
    EXPECT_EQ(got.status(), status) << where << ": " << got.body();
    EXPECT_EQ(got.at("code"), std::to_string(static_cast<int>(code))) << where;
    EXPECT_THAT(got.at("message"), HasSubstr(text)) << where;
    EXPECT_EQ(got.at("error"), got.at("message")) << where;
    EXPECT_EQ(got.at("details"), "[]") << where;
}

const schemas::json_value& route_world::document() {
    if (!x_document) x_document = *schemas::parse_json(node.ask(nullptr, "GET", "/api/openapi.json").body());
    return *x_document;
}

const schemas::json_value& route_world::schema_of_body(const api::calls::route& row) {
    return resolved(document(),
                    member(document(), {"paths", row.pattern, runtime::to_lower(name_of(row.method)),
                                        "requestBody", "content", "application/json", "schema"}));
}

}  // namespace herald::test
