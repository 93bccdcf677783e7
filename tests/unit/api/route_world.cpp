#include "tests/unit/api/route_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "runtime/crypto.hpp"
#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoints.hpp"

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
        {"an array", {"array"}},    {"an object", {"object"}},           {"null", {"null"}}};
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
    if (const schemas::json_value* pattern = schema.find("pattern"))
        if (!std::regex_search(*value.get_if<std::string>(), std::regex(*pattern->get_if<std::string>())))
            return where + " does not match " + *pattern->get_if<std::string>();
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
    const std::string locked = node.version(model, "locked");
    const std::string deleted_model = node.model("deleted by id");
    node.model("deleted by name");
    const std::string deleted = node.version(model, "deleted"), of_model = node.version(model, "of model");
    node.version(model, "deleted by names");
    open_transitions(version, never_built);
    promote(promoted);
    const std::string filled = node.version(model, "filled");
    for (const char* name : {"deleted", "tested", "sent to"}) {
        const reply hook = node.post("/api/v1/uac-proxy/events/createWebhook",
                                     R"({"name":")" + std::string(name) +
                                         R"(","location":"https://example.org/","event_types":["CREATE"]})");
        ASSERT_EQ(hook.status(), 200) << hook.body();
    }
    add_people();
    schemas::attempt attempt;
    attempt.status = 200;
    node.tests.answer = attempt;
    x_segments = {{"workspace", "Default"},
                  {"model", "m"},
                  {"model_id", model},
                  {"version", version},
                  {"version_or_name", "v"},
                  {"build", build.at("id")},
                  {"stage", "1"},
                  {"name", "promote_events"},
                  {"org", "1"},
                  {"group", "1"},
                  {"role", "1"},
                  {"user", "4"},
                  {"workspace_id", "1"}};
    add_samples_of_people();
    const std::string update = R"({"description":"d","labels":["l"]})";
    x_samples["get_user"].query = "?email=" + node.administrator.email;
    x_samples["get_workspace_by_id"].query = "?id=1";
    x_samples["get_workspace_by_name"].query = "?name=Default";
    x_samples["get_organization_by_name"].query = "?org_name=Default";
    x_samples["get_my_permissions"].query = "?workspace_id=1";
    const std::string key_hash(runtime::as_bytes(runtime::sha256(node.administrator.key)));
    x_samples["console_redeem"].body =
        R"({"code":")" + node.codes.make({node.administrator.email, key_hash}).text + "\"}";
    x_samples["console_redeem"].more = "herald-console: 1\r\n";
    x_samples["get_readiness_for_stage"].query = "?stage=PRODUCTION";
    x_samples["find_audit"].query = "?workspace=Default";
    x_samples["list_builds"].query = "?model_version_id=" + version;
    for (const std::string_view name :
         {"patch_version", "put_version", "patch_version_by_names", "put_version_by_names"})
        x_samples[name].body = update;
    for (const auto& [name, id] : std::map<std::string_view, std::string>{{"approve_transition", "1"},
                                                                          {"reject_transition", "2"},
                                                                          {"close_transition", "3"},
                                                                          {"commit_transition", "4"}})
        x_samples[name].body = R"({"transition_id":")" + id + R"("})";
    for (const std::string_view name :
         {"patch_model", "put_model", "patch_model_by_name", "put_model_by_name"})
        x_samples[name].body = update;
    x_samples["count_models"].query = "?workspace_name=Default";
    x_samples["delete_model"].segments = {{"model_id", deleted_model}};
    x_samples["delete_model_by_name"].segments = {{"model", "deleted%20by%20name"}};
    x_samples["delete_version"].segments = {{"version", deleted}};
    x_samples["delete_version_of_model"].segments = {{"version", of_model}};
    x_samples["delete_version_by_names"].segments = {{"version_or_name", "deleted%20by%20names"}};
    x_samples["lock_version"].segments = {{"version", locked}};
    x_samples["fail_promotion"].segments = {{"version", promoted}};
    x_samples["request_version_scan"].segments = {{"version", never_built}};
    x_samples["create_version_by_names"].body = R"({"version":"by names"})";
    for (const std::string_view name :
         {"get_url_for_artifact", "commit_artifact_part", "get_committed_artifact_parts",
          "commit_multipart_artifact", "delete_artifact"})
        x_samples[name].segments = {{"version", filled}, {"key", "file"}};
    x_samples["get_committed_artifact_parts"].query = "?key=file";
    x_samples["commit_multipart_artifact"].body = R"({"key":"parts"})";
    // The only report that may come before anybody has asked for it.
    x_samples["report_scan"].body =
        R"({"scan_status":"scanned","scan_external_results":{"safety_status":"unsafe"}})";
    x_samples["trigger_test"].body = R"({"webhook_id":2})";
    x_samples["update_webhook"].body = R"({"id":2,"add_event_types":["DELETE"]})";
    x_samples["rotate_webhook_secret"].body = R"({"webhook_id":2})";
    x_samples["set_webhook_status"].body = R"({"webhook_id":2,"status":"DISABLED"})";
    upload(filled);
    add_endpoints(model);
    add_deliveries(node.version(model, "sent to"));
}

/// A delivery of the event that the version was made, and a replay that `third` began.
void route_world::add_deliveries(const std::string& version) {
    const schemas::event event = node.event_about(schemas::resource_type::registered_model_version, version);
    schemas::delivery_row row;
    row.webhook_id.value = 3;
    row.id = schemas::delivery_id(event.id, row.webhook_id);
    row.event_id = event.id;
    row.event_type = event.type;
    row.resource_type = event.resource_type;
    row.resource_id = event.resource_id;
    row.workspace_id = event.workspace_id;
    row.time_event_ms = event.time_ms;
    row.state = schemas::delivery_state::dead;
    node.history.rows = {row};
    const std::string retry = "/api/v1/uac-proxy/events/deliveries/retry";
    const reply begun =
        node.ask(&third, "POST", retry, R"({"ids":[")" + row.id + R"(",")" + row.id + R"("]})");
    ASSERT_EQ(begun.status(), 200) << begun.body();
    x_segments["delivery"] = row.id;
    x_segments["replay"] = begun.at("replay.id");
    for (const std::string_view name : {"get_replay", "pause_replay", "resume_replay", "cancel_replay"})
        x_samples[name].by = &third;
    for (const std::string_view name :
         {"list_deliveries", "list_dead_deliveries", "list_replays", "webhook_health"})
        x_samples[name].query = "?workspace_id=1";
    x_samples["get_event"].query = "?event_id=" + event.id;
    x_samples["retry_deliveries"].body = R"({"ids":[")" + row.id + R"("]})";
    x_samples["retrigger_webhook_call"].body = R"({"call_id":")" + row.id + R"("})";
    x_samples["begin_replay"].body = R"({"webhook_id":3})";
}

/// One that all routes but the one that ends it are asked about: its stage and its token have the id 1.
void route_world::add_endpoints(const std::string& model) {
    const std::string endpoints = "/api/v1/deployment/workspace/Default/endpoints";
    const auto made = [&](const std::string& path, const std::string& body) {
        const reply got = node.post(path, body);
        EXPECT_EQ(got.status(), 200) << path << ": " << got.body();
        return got.at("id");
    };
    const std::string kept = made(endpoints, R"({"path":"/kept"})");
    const std::string stages = endpoints + "/" + kept + "/stages";
    EXPECT_EQ(made(stages, R"({"name":"production"})"), "1");
    const std::string token = made(stages + "/1/accesstokens", R"({"value":"to-be-deleted"})");
    x_segments["endpoint"] = kept;
    x_segments["token"] = token;
    x_samples["create_endpoint_stage"].body = R"({"name":"staging"})";
    x_samples["delete_endpoint"].segments = {{"endpoint", made(endpoints, R"({"path":"/ended"})")}};
    x_samples["make_docker_context"].body = R"({"model_version_id":)" + version_with_model(model) + "}";
    x_samples["ingest_reference"].segments = {{"endpoint", runtime::uuid_text(served_endpoint)}};
    x_samples["roll_back_endpoint_stage"].segments = {{"endpoint", runtime::uuid_text(served_endpoint)},
                                                      {"stage", "1000"}};
}

/// With the bytes of a model, and the name of reference data; its build is the one that is served.
std::string route_world::version_with_model(const std::string& model) {
    const std::string version = node.version(model, "with a model");
    const std::string path = "/api/v1/registry/registered_models/" + model + "/model_versions/" + version;
    const reply named = node.ask(
        &third, "PATCH", path,
        R"({"model":{"key":"model","path":"m"},"artifacts":[{"key":"reference_data","path":"r","path_only":true}]})");
    EXPECT_EQ(named.status(), 200) << named.body();
    const reply url = node.post("/api/v1/registry/model_versions/" + version + "/getUrlForArtifact",
                                R"({"key":"model","method":"PUT"})");
    EXPECT_EQ(url.status(), 200) << url.body();
    EXPECT_EQ(
        node.ask(nullptr, "PUT", url.at("url").substr(std::string("http://herald").size()), "bytes").status(),
        200);
    const reply build = node.post(
        "/api/v1/deployment/workspace/Default/builds",
        R"({"model_version_id":)" + version + R"(,"external_location":"registry.example.org/served"})");
    EXPECT_EQ(build.at("id"), std::to_string(served_build.value)) << build.body();
    x_samples["get_build_image"].segments = {{"build", std::to_string(imaged_build.value)}};
    return version;
}

/// No call of this test makes a stage serve.
void route_world::add_served_endpoint(storage::registry::state::state_changes& state) {
    schemas::endpoint endpoint;
    endpoint.id = served_endpoint;
    endpoint.path = "/served";
    endpoint.workspace_id.value = 1;
    storage::registry::tables::endpoints::put(state, endpoint);
    schemas::endpoint_stage serving;
    serving.id.value = 1'000;
    serving.endpoint_id = served_endpoint;
    serving.components.emplace_back().build_id = served_build;
    serving.previous.emplace().build_id = served_build;
    storage::registry::tables::endpoint_stages::put(state, serving);
    schemas::build imaged;  // no node of this test makes one
    imaged.id = imaged_build;
    imaged.workspace_id.value = 1;
    imaged.model_version_id.value = 1;
    imaged.status = schemas::build_status::finished;
    imaged.image_digest = std::string(32, '0');
    imaged.model_parts = {{std::string(runtime::as_bytes(runtime::sha256("bytes"))), 5}};
    storage::registry::tables::builds::put(state, imaged);
}

/// The bytes of one artifact, and the only part of another.
void route_world::upload(const std::string& version) {
    const std::string artifacts = R"({"artifacts":[{"key":"file","path":"f"},{"key":"parts","path":"p"}]})";
    ASSERT_EQ(
        node.ask(&third, "PATCH", "/api/v1/registry/registered_models/1/model_versions/" + version, artifacts)
            .status(),
        200);
    const auto url_of = [&](const std::string& key, const std::string& method) {
        const reply made = node.post("/api/v1/registry/model_versions/" + version + "/getUrlForArtifact",
                                     R"({"key":")" + key + R"(","method":")" + method + R"("})");
        EXPECT_EQ(made.status(), 200) << made.body();
        return made.at("url").substr(std::string("http://herald").size());
    };
    const auto keep_url = [this](std::string_view row, const std::string& url) {
        const std::size_t said = url.rfind('/') + 1, query = url.find('?');
        x_samples[row].segments = {{"signed", url.substr(said, query - said)}};
        x_samples[row].query = url.substr(query);
    };
    const std::string put = url_of("file", "PUT");
    ASSERT_EQ(node.ask(nullptr, "PUT", put, "the bytes").status(), 200);
    const std::string etag =
        "\\\"" + node.ask(nullptr, "PUT", url_of("parts", "PUT"), "part").header("etag").substr(1, 64) +
        "\\\"";
    const std::string part = R"({"part_number":"1","etag":")" + etag + R"("})";
    ASSERT_EQ(node.post("/api/v1/registry/model_versions/" + version + "/commitArtifactPart",
                        R"({"key":"parts","artifact_part":)" + part + "}")
                  .status(),
              200);
    x_samples["commit_artifact_part"].body = R"({"key":"parts","artifact_part":)" + part + "}";
    x_samples["get_url_for_artifact"].body = R"({"key":"file","method":"GET"})";
    keep_url("put_artifact_bytes", put);
    x_samples["put_artifact_bytes"].body = "other bytes";
    const std::string get = url_of("file", "GET");
    keep_url("get_artifact_bytes", get);
}

/// What the routes of users and organisations change and delete: nothing that another route needs.
void route_world::add_people() {
    keeper = node.user("keeper@example.org");
    const std::string organization = "/api/v2/uac-proxy/organization";
    const auto made = [&](const std::string& path, const std::string& body, const char* id) {
        const reply got = node.post(path, body);
        EXPECT_EQ(got.status(), 200) << path << ": " << got.body();
        return got.at(id);
    };
    x_people["leaver"] = made("/api/v1/uac-proxy/uac/createUser",
                              R"({"info":{"email":"leaver@example.org"}})", "info.verta_info.user_id");
    x_people["member"] = made("/api/v1/uac-proxy/uac/createUser",
                              R"({"info":{"email":"member@example.org"}})", "info.verta_info.user_id");
    x_people["keyless"] = made("/api/v1/uac-proxy/uac/createUser",
                               R"({"info":{"email":"keyless@example.org"}})", "info.verta_info.user_id");
    for (const char* name : {"account", "other.account", "third.account"})
        x_people[name] =
            made("/api/v1/uac-proxy/service_account/createServiceAccount",
                 R"({"username":")" + std::string(name) + R"(@example.org"})", "service_account.id");
    x_people["organization"] = made(organization, R"({"organization":{"name":"Empty"}})", "organization.id");
    x_people["group"] = made(organization + "/1/groups", R"({"group":{"name":"unused"}})", "group.id");
    for (const char* name : {"role", "other role"})
        x_people[name] =
            made(organization + "/1/roles", R"({"role":{"name":")" + std::string(name) + R"("}})", "role.id");
    for (const char* name : {"workspace", "other workspace"})
        x_people[name] = made(organization + "/1/workspaces",
                              R"({"workspace":{"name":")" + std::string(name) + R"("}})", "workspace.id");
    const reply second_key = node.ask(&keeper, "POST", "/api/v1/uac-proxy/uac/addDevKey", "{}");
    EXPECT_EQ(second_key.status(), 200) << second_key.body();
    keeper.key = second_key.at("secondary_dev_key");
}

void route_world::add_samples_of_people() {
    const auto body_of = [&](const char* member, const char* who) {
        return R"({")" + std::string(member) + R"(":")" + x_people.at(who) + R"("})";
    };
    x_samples["delete_user"].body = body_of("user_id", "leaver");
    for (const char* name :
         {"add_dev_key_for_user", "delete_secondary_dev_key_for_user", "delete_primary_dev_key_for_user"})
        x_samples[name].body = body_of("user_id", "keyless");
    for (const char* name : {"add_system_admin", "remove_system_admin"})
        x_samples[name].body = R"({"share_with":"member@example.org"})";
    x_samples["delete_primary_dev_key"].by = &keeper;
    x_samples["create_service_account"].body = R"({"username":"weekly"})";
    x_samples["update_service_account"].body =
        R"({"id":")" + x_people.at("account") + R"(","description":"d"})";
    x_samples["delete_service_account"].body = body_of("id", "account");
    x_samples["remove_service_account"].segments = {{"user", x_people.at("other.account")}};
    x_samples["add_organization_user"].body = R"({"email":"member@example.org"})";
    x_samples["remove_organization_user"].segments = {{"user", x_people.at("member")}};
    x_samples["get_organization_record_by_name"].query = "?name=Default";
    x_samples["delete_organization"].segments = {{"org", x_people.at("organization")}};
    x_samples["delete_group"].segments = {{"group", x_people.at("group")}};
    for (const char* name : {"add_group_users", "remove_group_users"}) {
        x_samples[name].segments = {{"group", "1"}};
        x_samples[name].body = R"({"user_id":[")" + x_people.at("third.account") + R"("]})";
    }
    x_samples["delete_role"].segments = {{"role", x_people.at("role")}};
    x_samples["delete_role_by_client"].segments = {{"role", x_people.at("other role")}};
    x_samples["delete_workspace"].segments = {{"workspace_id", x_people.at("workspace")}};
    x_samples["delete_workspace_by_client"].segments = {{"workspace_id", x_people.at("other workspace")}};
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
        const auto known = x_segments.find(name);
        path += is_own                      ? sample->second.segments.find(name)->second
                : known != x_segments.end() ? known->second
                                            : "x";
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
    if (own.by && who && who->email != "nobody@example.org" && who->key != "wrong") who = own.by;
    std::string body = own.body;
    if (body.empty() && row.has_body())
        body = schemas::to_json_text(member(schema_of_body(row), {"example"}));
    return ask(who, row, body, own.query, own.more + std::string(more));
}

std::string route_world::query_of_sample(const api::calls::route& row) const {
    const auto found = x_samples.find(row.name);
    return found == x_samples.end() ? "" : found->second.query;
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
