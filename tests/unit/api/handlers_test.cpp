// Protects what all handlers have in common: repeats, members that are unknown or the server's, lists, and
// what an answer says beside its body.
#include <set>

#include "schemas/commands/identity.hpp"
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;

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
                   "descripton is unknown; the nearest name is description");
    const reply made = node.post(models, body);
    EXPECT_EQ(made.status(), 200) << made.body();
    EXPECT_THAT(made.header("svc-warning"), HasSubstr("descripton is unknown"));
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

TEST_F(handlers, a_repeat_of_a_strict_change_gets_the_first_outcome_whatever_became_of_the_record) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const auto change = [&](const std::string& key) {
        return node.ask(&node.administrator, "PUT", path, R"({"description":"d"})",
                        "Prefer: handling=strict\r\nIdempotency-Key: " + key + "\r\n");
    };
    const reply first = change("k");
    ASSERT_EQ(first.status(), 200) << first.body();
    ASSERT_EQ(node.ask(&node.administrator, "DELETE", path).status(), 200);
    const reply again = change("k");
    EXPECT_EQ(again.status(), 200) << again.body();
    EXPECT_EQ(again.body(), first.body());
    EXPECT_EQ(change("l").status(), 404);
}

TEST_F(handlers, lists_of_an_organization_are_given_page_by_page) {
    for (const std::string name : {"a@example.org", "b@example.org", "c@example.org"}) node.user(name);
    const std::string organization = "/api/v2/uac-proxy/organization";
    for (const auto& [path, member] : std::vector<std::pair<std::string, std::string>>{
             {organization + "/1/users", "users"},
             {organization + "/1/groups", "groups"},
             {organization + "/1/roles", "roles"},
             {organization + "/1/workspaces", "workspaces"},
             {organization, "organizations"},
             {proxy + "/workspace/getVisibleWorkspaces", "workspace"},
             {proxy + "/system_admin/listSystemAdmins", "user_ids"}}) {
        const reply whole = node.get(path);
        ASSERT_EQ(whole.status(), 200) << path << whole.body();
        EXPECT_EQ(whole.at("next_page_token"), "");
        std::string token, pieces;
        int count = 0;
        do {
            const reply page = node.get(path + "?page_limit=1&page_token=" + token);
            ASSERT_EQ(page.status(), 200) << path << page.body();
            EXPECT_EQ(page.at("total_records"), whole.at("total_records"));
            if (!pieces.empty()) pieces += ",";
            pieces += page.at(member + ".0");
            EXPECT_EQ(page.at(member + ".1"), "") << path;
            token = page.at("next_page_token");
            for (std::size_t at; (at = token.find('+')) != std::string::npos;) token.replace(at, 1, "%2B");
        } while (!token.empty() && ++count < 20);
        const std::string all = member == "user_ids" ? "[\"" + pieces + "\"]" : "[" + pieces + "]";
        EXPECT_EQ(all, whole.at(member)) << path;
        expect_refused(node.get(path + "?page_limit=1001"), 400, error_code::invalid_argument, "1001");
    }
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

TEST_F(handlers, a_key_belongs_to_its_method_path_and_query) {
    const std::string_view key = "Idempotency-Key: once\r\n";
    ASSERT_EQ(node.post(models, R"({"name":"m"})", key).status(), 200);
    EXPECT_EQ(node.post(versions_of("1"), R"({"version":"v"})", key).status(), 200);
    expect_refused(node.post(std::string(models) + "?x=1", R"({"name":"m"})", key), 409,
                   error_code::already_exists, "Idempotency-Key");
}

TEST_F(handlers, requests_that_decide_who_may_do_what_refuse_unknown_members) {
    const auto refused = [&](const std::string& method, const std::string& path, const std::string& body,
                             const std::string& member) {
        expect_refused(node.ask(&node.administrator, method, path, body), 400, error_code::invalid_argument,
                       member + " is unknown");
    };
    const std::string org = "/api/v2/uac-proxy/organization/1";
    refused("PUT", "/api/v1/registry/workspaces/Default/policies", R"({"approvals_requird":2})",
            "approvals_requird");
    refused("POST", org + "/roles", R"({"role":{"name":"r","resource_action":[{"resource_type":1}]}})",
            "role.resource_action");
    refused("POST", org + "/workspaces", R"({"workspace":{"name":"w","permission":[{"group_id":"2"}]}})",
            "workspace.permission");
    refused("POST", org + "/workspaces/1/permissions", R"({"group_id":"2","role_id":"3","rol":"4"})", "rol");
    // Also at the default that clients send for nothing.
    for (const std::string nothing : {"0", "[]", "{}", "false", "\"\"", "null"}) {
        refused("PUT", "/api/v1/registry/workspaces/Default/policies",
                R"({"require_aproval_for":)" + nothing + "}", "require_aproval_for");
        refused("POST", org + "/roles", R"({"role":{"name":"r","x":)" + nothing + "}}", "role.x");
        refused("POST", org + "/roles",
                R"({"role":{"name":"r","resource_actions":[{"resource_type":1,"x":)" + nothing + "}]}}", "x");
        refused("POST", org + "/workspaces", R"({"workspace":{"name":"w"},"x":)" + nothing + "}", "x");
        refused("DELETE", org + "/workspaces/1/permissions",
                R"({"group_id":"2","role_id":"3","x":)" + nothing + "}", "x");
    }
    EXPECT_EQ(node.post(models, R"({"name":"m","x":0,"y":[]})").status(), 200) << "other requests take them";
    const reply kept = node.ask(&node.administrator, "GET", "/api/v1/registry/workspaces/Default/policies");
    EXPECT_EQ(
        node.ask(&node.administrator, "PUT", "/api/v1/registry/workspaces/Default/policies", kept.body())
            .body(),
        kept.body());
}

TEST_F(handlers, scans_are_reported_by_others_where_a_stage_needs_one_unless_the_policy_says_otherwise) {
    const auto set = [&](const std::string& body) {
        return node.ask(&node.administrator, "PUT", "/api/v1/registry/workspaces/Default/policies", body)
            .at("scan_by_others");
    };
    EXPECT_EQ(set("{}"), "false");
    EXPECT_EQ(set(R"({"require_safe_scan_for":["PRODUCTION"]})"), "true");
    EXPECT_EQ(set(R"({"require_safe_scan_for":["PRODUCTION"],"scan_by_others":false})"), "false");
    EXPECT_EQ(set(R"({"scan_by_others":true})"), "true");
}

}  // namespace
}  // namespace herald::test
