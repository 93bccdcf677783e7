// Protects the handlers' answers: each area's calls do what wire.md says, and refusals name what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view models = "/api/v1/registry/workspaces/Default/registered_models";
const std::string registry_path = "/api/v1/registry";
const std::string proxy = "/api/v1/uac-proxy";
const std::string deployment = "/api/v1/deployment";

struct handlers : ::testing::Test {
    std::string versions_of(const std::string& model) const {
        return registry_path + "/registered_models/" + model + "/model_versions";
    }
    std::string hook(const std::string& location = "https://example.org/hook") {
        return R"({"name":"w","location":")" + location +
               R"(","event_types":["PROMOTE"],"mutual_secret":"whsec_)" + std::string(43, 'A') +
               R"(=","all_events":false})";
    }
    static void expect_refused(const reply& got, int status, error_code code, const std::string& text) {
        EXPECT_EQ(got.status(), status) << got.body();
        EXPECT_EQ(got.at("code"), std::to_string(static_cast<int>(code)));
        EXPECT_THAT(got.at("message"), HasSubstr(text));
    }

    node_without_sockets node;
};

TEST_F(handlers, a_model_that_was_created_is_read_by_id_and_by_name_and_found) {
    const reply made = node.post(models, R"({"name":"m","description":"d","labels":["a","b"]})");
    ASSERT_EQ(made.status(), 200) << made.body();
    EXPECT_THAT(made.header("svc-registry-offset"), HasSubstr("1-"));
    EXPECT_EQ(made.at("registered_model.labels"), R"(["a","b"])");
    const std::string id = made.at("registered_model.id");
    EXPECT_EQ(node.get(registry_path + "/registered_models/" + id).body(), made.body());
    EXPECT_EQ(node.get(std::string(models) + "/m").body(), made.body());
    const reply found = node.post(registry_path + "/registered_models/find", "{}");
    EXPECT_EQ(found.at("total_records"), "1");
    EXPECT_EQ(found.at("registered_models.0"), made.at("registered_model"));
}

TEST_F(handlers, a_second_model_of_the_name_is_409_and_one_without_a_name_is_400) {
    node.model("m");
    expect_refused(node.post(models, R"({"name":"m"})"), 409, error_code::already_exists, "\"m\"");
    expect_refused(node.post(models, "{}"), 400, error_code::invalid_argument, "name");
    expect_refused(node.post(models, R"({"name":7})"), 400, error_code::invalid_argument, "name is 7");
}

TEST_F(handlers, a_repeat_under_the_same_key_gives_the_same_answer_and_another_request_is_refused) {
    const std::string_view key = "Idempotency-Key: once\r\n";
    const reply first = node.post(models, R"({"name":"m"})", key);
    ASSERT_EQ(first.status(), 200) << first.body();
    EXPECT_EQ(node.post(models, R"({"name":"m"})", key).body(), first.body());
    expect_refused(node.post(models, R"({"name":"n"})", key), 409, error_code::already_exists,
                   "Idempotency-Key");
}

TEST_F(handlers, a_command_says_from_where_it_was_asked_for) {
    const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const auto asked = [&](const std::string& name, const std::string& more) {
        EXPECT_EQ(node.post(models, R"({"name":")" + name + R"("})", more).status(), 200);
        return node.commands(schemas::commands::create_model::type).back().request;
    };
    const auto plain = asked("a", "traceparent: " + trace + "\r\n");
    EXPECT_EQ(plain.base_url, "http://herald");
    EXPECT_EQ(plain.traceparent, trace);
    EXPECT_EQ(asked("b", "traceparent: 00-abc\r\n").traceparent, "");
    node.is_found_at({"", "https"});
    EXPECT_EQ(asked("c", "").base_url, "https://herald");
    node.is_found_at({"https://models.example.com/herald", "http"});
    EXPECT_EQ(asked("d", "").base_url, "https://models.example.com/herald");
}

TEST_F(handlers, users_have_uuids_that_differ) {
    node.user("a@example.org");
    node.user("b@example.org");
    std::set<schemas::uuid> uuids{schemas::uuid{}};
    for (const auto& command : node.commands(schemas::commands::create_user::type))
        uuids.insert(schemas::decode<schemas::commands::create_user>(command.body)->user_uuid);
    EXPECT_EQ(uuids.size(), 3u);
}

TEST_F(handlers, a_member_that_is_unknown_is_named_and_refused_to_strict_callers) {
    const std::string_view body = R"({"name":"m","descripton":"d"})";
    expect_refused(node.post(models, body, "Prefer: handling=strict\r\n"), 400, error_code::invalid_argument,
                   "descripton is unknown, the nearest name is description");
    const reply made = node.post(models, body);
    EXPECT_EQ(made.status(), 200) << made.body();
    EXPECT_THAT(made.header("svc-warning"), HasSubstr("descripton is unknown"));
}

TEST_F(handlers, a_patch_changes_what_it_names_and_leaves_the_rest) {
    const std::string model = node.model("m");
    const std::string versions = versions_of(model);
    const reply made = node.post(versions, R"({"version":"v","description":"old","labels":["kept"]})");
    ASSERT_EQ(made.status(), 200) << made.body();
    const std::string path = versions + "/" + made.at("model_version.id");
    const reply patched = node.ask(&node.administrator, "PATCH", path, R"({"description":"new"})");
    EXPECT_EQ(patched.at("model_version.description"), "new") << patched.body();
    EXPECT_EQ(patched.at("model_version.labels"), R"(["kept"])");
    EXPECT_EQ(node.get(path).body(), patched.body());
    EXPECT_EQ(node.post(versions + "/find", "{}").at("model_versions.0"), patched.at("model_version"));
}

TEST_F(handlers, a_promotion_to_production_needs_another_person_and_is_then_under_way) {
    const caller second = node.second_administrator();
    const std::string version = node.version(node.model("m"), "v");
    ASSERT_EQ(node.post(proxy + "/events/createWebhook", hook()).status(), 200);
    const std::string stage = registry_path + "/stage/";
    const reply asked = node.post(stage + "createTransition", R"({"model_version_id":")" + version +
                                                                  R"(","desired_stage":"PRODUCTION"})");
    ASSERT_EQ(asked.status(), 200) << asked.body();
    const std::string transition = R"({"transition_id":")" + asked.at("activity.id") + R"("})";
    expect_refused(node.post(stage + "commitTransition", transition), 400, error_code::failed_precondition,
                   "approv");
    expect_refused(node.post(stage + "approveTransition", transition), 403, error_code::permission_denied,
                   "somebody else must approve");
    EXPECT_EQ(node.ask(&second, "POST", stage + "approveTransition", transition).status(), 200);
    EXPECT_EQ(node.post(stage + "commitTransition", transition).status(), 200);
    EXPECT_EQ(node.get(registry_path + "/model_versions/" + version).at("model_version.stage"), "PRODUCTION");
    const reply promotion = node.get(registry_path + "/model_versions/" + version + "/promotion");
    EXPECT_EQ(promotion.at("deliveries"), R"({"pending":1,"succeeded":0,"dead":0})") << promotion.body();
    EXPECT_NE(promotion.at("event_id"), "");
}

TEST_F(handlers, who_may_not_read_a_model_is_told_that_there_is_none) {
    const std::string id = node.model("m");
    const caller stranger = node.user("stranger@example.org");
    expect_refused(node.ask(&stranger, "GET", registry_path + "/registered_models/" + id), 404,
                   error_code::not_found, id);
    EXPECT_EQ(
        node.ask(&stranger, "POST", registry_path + "/registered_models/find", "{}").at("total_records"),
        "0");
}

TEST_F(handlers, a_new_users_key_is_his_and_shown_once) {
    const caller made = node.user("new@example.org");
    const reply himself = node.ask(&made, "GET", proxy + "/uac/getCurrentUser");
    EXPECT_EQ(himself.at("email"), made.email) << himself.body();
    EXPECT_EQ(himself.at("dev_key"), "");
    expect_refused(
        node.ask(&made, "POST", proxy + "/uac/createUser", R"({"info":{"email":"x@example.org"}})"), 403,
        error_code::permission_denied, "administrator");
    expect_refused(node.post(proxy + "/uac/createUser", "{}"), 400, error_code::invalid_argument,
                   "info is missing");
}

TEST_F(handlers, a_scan_is_requested_reported_and_shown) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = deployment + "/workspace/Default/builds";
    expect_refused(node.post(builds, "{}"), 400, error_code::invalid_argument, "model_version_id is missing");
    const reply build = node.post(
        builds, R"({"model_version_id":)" + version + R"(,"external_location":"registry.example.com/m:1"})");
    ASSERT_EQ(build.status(), 200) << build.body();
    const std::string scan = builds + "/" + build.at("id") + "/scan";
    const std::string shown = deployment + "/builds/" + build.at("id") + "/scan";
    EXPECT_EQ(node.get(shown).at("scan_status"), "unscanned");
    EXPECT_EQ(node.post(scan, R"({"scan_external":true})").at("scan_status"), "scanning");
    const reply reported =
        node.ask(&node.administrator, "PUT", scan,
                 R"({"scan_status":"scanned","scan_external_results":{"safety_status":"unsafe",)"
                 R"("url":"https://scanner.example.com/1"}})");
    EXPECT_EQ(reported.at("safety_status"), "unsafe") << reported.body();
    EXPECT_EQ(node.get(shown).at("scan_external_results.safety_status"), "unsafe");
    EXPECT_EQ(node.get(deployment + "/builds?model_version_id=" + version).at("builds.0.id"), build.at("id"));
}

TEST_F(handlers, a_webhook_is_created_found_without_its_secret_and_deleted) {
    expect_refused(node.post(proxy + "/events/createWebhook", hook("http://example.org/")), 400,
                   error_code::invalid_argument, "https");
    expect_refused(node.post(proxy + "/events/createWebhook", hook("https://127.0.0.1/")), 400,
                   error_code::invalid_argument, "127.0.0.1");
    const reply made = node.post(proxy + "/events/createWebhook", hook());
    ASSERT_EQ(made.status(), 200) << made.body();
    const reply found = node.post(proxy + "/events/findWebhook", "{}");
    EXPECT_EQ(found.at("webhooks.0.id"), made.at("id")) << found.body();
    EXPECT_THAT(found.body(), Not(HasSubstr("AAAA")));
    const std::string ids = R"({"ids":[)" + made.at("id") + "]}";
    const auto remove = [&] {
        return node.ask(&node.administrator, "DELETE", proxy + "/events/deleteWebhook", ids);
    };
    EXPECT_EQ(remove().status(), 200);
    expect_refused(remove(), 404, error_code::not_found, made.at("id"));
}

TEST_F(handlers, a_test_of_a_webhook_tells_what_the_receiver_answered_or_why_it_did_not) {
    const reply made = node.post(proxy + "/events/createWebhook", hook());
    const std::string body = R"({"webhook_id":)" + made.at("id") + "}";
    schemas::attempt attempt;
    attempt.status = 418;
    node.tests.answer = attempt;
    EXPECT_EQ(node.post(proxy + "/events/triggerTest", body).at("status_code"), "418");
    ASSERT_EQ(node.tests.sent.size(), 1u);
    EXPECT_EQ(std::to_string(node.tests.sent.front().webhook_id.value), made.at("id"));
    EXPECT_THAT(node.tests.sent.front().event.body, HasSubstr("\"event_type\":\"TEST\""));
    node.tests.answer = error{error_code::deadline_exceeded, "no worker took it"};
    expect_refused(node.post(proxy + "/events/triggerTest", body), 400, error_code::failed_precondition,
                   "no worker took it");
    expect_refused(node.post(proxy + "/events/triggerTest", R"({"webhook_id":99})"), 404,
                   error_code::not_found, "webhook 99");
}

TEST_F(handlers, a_flag_that_is_switched_off_is_shown_so) {
    const std::string flags = proxy + "/feature-flags";
    EXPECT_EQ(node.get(flags).at("feature_flags.scan_events.enabled"), "true");
    EXPECT_EQ(
        node.ask(&node.administrator, "PUT", flags + "/scan_events", R"({"enabled":false})").at("enabled"),
        "false");
    EXPECT_EQ(node.get(flags).at("feature_flags.scan_events.enabled"), "false");
    expect_refused(node.ask(&node.administrator, "PUT", flags + "/no_flag", R"({"enabled":false})"), 404,
                   error_code::not_found, "no_flag");
}

TEST_F(handlers, what_the_server_owns_is_ignored_and_named_whatever_it_holds) {
    const std::string_view body = R"({"name":"m","owner":"zz","id":"x","time_created":"7","pii":true})";
    expect_refused(node.post(models, body, "Prefer: handling=strict\r\n"), 400, error_code::invalid_argument,
                   "owner is set by Herald itself");
    const reply made = node.post(models, body);
    ASSERT_EQ(made.status(), 200) << made.body();
    EXPECT_EQ(made.at("registered_model.owner"), "1");
    EXPECT_EQ(made.at("registered_model.pii"), "true");
    for (const std::string_view name : {"id", "owner", "time_created"})
        EXPECT_THAT(made.header("svc-warning"), HasSubstr(std::string(name) + " is set by Herald itself"));
}

TEST_F(handlers, what_the_server_owns_may_come_back_as_it_was_read) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const reply read = node.get(path);
    const auto record = schemas::parse_json(read.at("model_version"));
    ASSERT_TRUE(record);
    const reply put =
        node.ask(&node.administrator, "PUT", path, read.at("model_version"), "Prefer: handling=strict\r\n");
    EXPECT_EQ(put.status(), 200) << put.body();
    EXPECT_EQ(put.header("svc-warning"), "");
}

TEST_F(handlers, enums_come_as_names_or_numbers_and_go_out_as_names) {
    const reply made = node.post(
        models,
        R"({"name":"m","visibility":2,"custom_permission":{"collaborator_type":1,"can_deploy":1,"can_predict":false}})");
    ASSERT_EQ(made.status(), 200) << made.body();
    EXPECT_EQ(made.at("registered_model.visibility"), "ORG_SCOPED_PUBLIC");
    EXPECT_EQ(made.at("registered_model.custom_permission"),
              R"({"collaborator_type":"READ_WRITE","can_deploy":"TRUE","can_predict":"FALSE"})");
    expect_refused(node.post(models, R"({"name":"n","visibility":9})"), 400, error_code::invalid_argument,
                   "visibility is 9; it must be one of PRIVATE");
}

TEST_F(handlers, archived_is_a_ternary_that_takes_json_flags_too) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    for (const std::string_view yes : {"1", "\"TRUE\"", "true"}) {
        const auto set = [&](std::string_view value) {
            return node.ask(&node.administrator, "PATCH", path, R"({"archived":)" + std::string(value) + "}");
        };
        EXPECT_EQ(set(yes).at("model_version.archived"), "TRUE") << yes;
        EXPECT_EQ(set("2").at("model_version.archived"), "FALSE");
    }
}

TEST_F(handlers, the_last_part_of_the_long_form_is_the_versions_id_before_its_name) {
    const std::string model = node.model("m");
    const std::string first = node.version(model, "first");
    const std::string shadow = node.version(model, first);
    const std::string path = std::string(models) + "/m/model_versions/";
    EXPECT_EQ(node.get(path + first).at("model_version.version"), "first");
    EXPECT_EQ(node.get(path + shadow).at("model_version.version"), first);
    EXPECT_EQ(node.get(path + "first").at("model_version.id"), first);
    const std::string of_another = node.version(node.model("n"), "v");
    expect_refused(node.get(path + of_another), 404, error_code::not_found, of_another);
}

TEST_F(handlers, every_answer_of_a_scan_has_the_earlier_ones) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = deployment + "/workspace/Default/builds";
    const reply build =
        node.post(builds, R"({"model_version_id":)" + version + R"(,"external_location":"example.org/m"})");
    ASSERT_EQ(build.status(), 200) << build.body();
    const std::string scan = builds + "/" + build.at("id") + "/scan";
    const reply first = node.post(scan, R"({"scan_external":true})");
    EXPECT_EQ(first.at("history"), "[]");
    const std::string report =
        R"({"scan_status":"scanned","scan_external_results":{"safety_status":"safe","url":"https://s.example.org"}})";
    ASSERT_EQ(node.ask(&node.administrator, "PUT", scan, report).status(), 200);
    const reply second = node.post(scan, R"({"scan_external":true})");
    EXPECT_EQ(second.at("history.0.id"), first.at("id"));
    const reply reported = node.ask(&node.administrator, "PUT", scan, report);
    EXPECT_EQ(reported.at("history.0.id"), first.at("id"));
    EXPECT_EQ(node.get(deployment + "/builds/" + build.at("id") + "/scan").body(), reported.body());
}

TEST_F(handlers, a_refusal_that_read_the_state_says_which) {
    const reply absent = node.get(registry_path + "/registered_models/987654321");
    expect_refused(absent, 404, error_code::not_found, "987654321");
    EXPECT_THAT(absent.header("svc-registry-offset"), HasSubstr("1-"));
}

TEST_F(handlers, every_list_tells_how_many_there_are) {
    const std::string version = node.version(node.model("m"), "v");
    for (const std::string& path :
         {proxy + "/workspace/getVisibleWorkspaces", std::string("/api/v2/uac-proxy/organization"),
          std::string("/api/v2/uac-proxy/organization/1/groups"),
          std::string("/api/v2/uac-proxy/organization/1/roles"),
          deployment + "/builds?model_version_id=" + version})
        EXPECT_NE(node.get(path).at("total_records"), "") << path;
    EXPECT_EQ(node.post(proxy + "/events/findWebhook", "{}").at("total_records"), "0");
}

TEST_F(handlers, a_query_parameter_that_is_empty_is_there_and_names_nothing) {
    expect_refused(node.get(proxy + "/workspace/getWorkspaceByName?name="), 404, error_code::not_found,
                   "\"\"");
    expect_refused(node.get(proxy + "/workspace/getWorkspaceByName"), 400, error_code::invalid_argument,
                   "name is missing");
}

TEST_F(handlers, a_version_is_changed_by_names_as_by_ids) {
    const std::string model = node.model("m");
    const std::string id = node.version(model, "v");
    const std::string path = std::string(models) + "/m/model_versions/";
    const reply patched =
        node.ask(&node.administrator, "PATCH", path + "v", R"({"description":"d","labels":["l"]})");
    EXPECT_EQ(patched.at("model_version.id"), id) << patched.body();
    const reply put = node.ask(&node.administrator, "PUT", path + id, R"({"description":"new"})",
                               "Prefer: handling=strict\r\n");
    EXPECT_EQ(put.at("model_version.description"), "new") << put.body();
    EXPECT_EQ(put.at("model_version.labels"), "[]");
    EXPECT_EQ(put.at("model_version.version"), "v");
    const std::string shadow = node.version(model, id);
    expect_refused(node.ask(&node.administrator, "PATCH", path + id, "{}"), 400,
                   error_code::failed_precondition, shadow);
}

TEST_F(handlers, external_deployments_are_not_kept_and_said_to_be_unknown) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const reply patched =
        node.ask(&node.administrator, "PATCH", path, R"({"external_deployments":[{"a":1}]})");
    EXPECT_EQ(patched.status(), 200);
    EXPECT_THAT(patched.header("svc-warning"), HasSubstr("external_deployments is unknown"));
    EXPECT_THAT(patched.body(), Not(HasSubstr("external_deployments")));
}

TEST_F(handlers, an_attributes_type_comes_as_a_name_or_a_number_and_goes_out_as_a_name) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const auto type_after = [&](const std::string& type) {
        return node
            .ask(&node.administrator, "PATCH", path,
                 R"({"attributes":[{"key":"k","value":1,"value_type":)" + type + "}]}")
            .at("model_version.attributes.0.value_type");
    };
    EXPECT_EQ(type_after("1"), "NUMBER");
    EXPECT_EQ(type_after("\"BLOB\""), "BLOB");
    EXPECT_EQ(type_after("0"), "") << "which says nothing about the value";
    expect_refused(
        node.ask(&node.administrator, "PATCH", path, R"({"attributes":[{"key":"k","value_type":99}]})"), 400,
        error_code::invalid_argument, "attributes[0].value_type is 99; it must be one of STRING NUMBER");
}

TEST_F(handlers, an_activity_holds_exactly_one_of_its_members) {
    const std::string version = node.version(node.model("m"), "v");
    const auto acted = [&](const std::string& what, const std::string& body) {
        const reply got = node.post(registry_path + "/stage/" + what + "Transition", body);
        EXPECT_EQ(got.status(), 200) << got.body();
        int members = 0;
        for (const char* each : {"transition", "approval", "rejection", "close", "update"})
            members += got.at("activity." + std::string(each)) != "";
        EXPECT_EQ(members, 1) << got.body();
        return got;
    };
    const auto ask = [&] {
        return R"({"transition_id":")" +
               acted("create", R"({"model_version_id":")" + version + R"(","desired_stage":"STAGING"})")
                   .at("activity.id") +
               R"("})";
    };
    EXPECT_EQ(acted("commit", ask()).at("activity.update"), R"({"stage":"STAGING"})");
    EXPECT_EQ(acted("close", ask()).at("activity.close"), "{}");
}

TEST_F(handlers, a_scan_of_a_version_that_cannot_be_built_tells_the_builds_error) {
    const std::string version = node.version(node.model("m"), "v");
    const reply asked =
        node.post(registry_path + "/model_versions/" + version + "/requestScan", R"({"scan_external":true})");
    EXPECT_EQ(asked.status(), 200) << asked.body();
    EXPECT_EQ(asked.at("scan_status"), "unscanned");
    EXPECT_THAT(asked.at("message"), HasSubstr("give external_location"));
    const reply builds = node.get(deployment + "/builds?model_version_id=" + version);
    EXPECT_EQ(builds.at("builds.0.id"), asked.at("build_id"));
    EXPECT_EQ(builds.at("builds.0.status"), "error");
}

TEST_F(handlers, a_key_belongs_to_its_method_path_and_query) {
    const std::string_view key = "Idempotency-Key: once\r\n";
    ASSERT_EQ(node.post(models, R"({"name":"m"})", key).status(), 200);
    EXPECT_EQ(node.post(versions_of("1"), R"({"version":"v"})", key).status(), 200);
    expect_refused(node.post(std::string(models) + "?x=1", R"({"name":"m"})", key), 409,
                   error_code::already_exists, "Idempotency-Key");
}

TEST_F(handlers, a_webhook_is_found_by_the_resources_that_it_would_hear_of) {
    const auto create = [&](const std::string& name, const std::string& more) {
        const reply made =
            node.post(proxy + "/events/createWebhook",
                      R"({"name":")" + name + R"(","location":"https://example.org/",)" + more + "}");
        EXPECT_EQ(made.status(), 200) << made.body();
    };
    create("promotions", R"("event_types":["PROMOTE"])");
    create("everything", R"("all_events":true)");
    create("builds", R"("all_events":true,"resource_types":[{"deployment_service_resource_type":"BUILD"}])");
    const auto found = [&](const std::string& filter) {
        const reply got =
            node.post(proxy + "/events/findWebhook", R"({"resource_types":[{)" + filter + "}]}");
        return got.at("webhooks.0.name") + " " + got.at("webhooks.1.name") + " " + got.at("webhooks.2.name");
    };
    EXPECT_EQ(found(R"("deployment_service_resource_type":"BUILD")"), "everything builds ");
    EXPECT_EQ(found(R"("registry_service_resource_type":"REGISTERED_MODEL_VERSION")"),
              "promotions everything ");
    EXPECT_EQ(found(R"("deployment_service_resource_type":"ALL")"), "promotions everything builds");
}

}  // namespace
}  // namespace herald::test
