// Protects the calls for webhooks and events: they do what wire.md §7 says, and no secret is shown again.
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(handlers, a_webhook_is_changed_disabled_and_enabled) {
    const reply made = node.post(proxy + "/events/createWebhook", hook());
    const auto change = [&](const std::string& members) {
        return node.post(proxy + "/events/updateWebhook", R"({"id":)" + made.at("id") + "," + members + "}");
    };
    expect_refused(change(R"("new_location":"https://user:password@example.org/")"), 400,
                   error_code::invalid_argument, "user name or password");
    expect_refused(change(R"("new_location":"https://b\u00fccher.example/")"), 400,
                   error_code::invalid_argument, "IDNA");
    expect_refused(change(R"("new_location":"https://example.org/#part")"), 400, error_code::invalid_argument,
                   "fragment");
    expect_refused(change(R"("mutual_secret":"whsec_short")"), 400, error_code::invalid_argument, "whsec_");
    const reply changed = change(
        R"("new_location":"https://example.org/new","add_event_types":["DELETE",5],"mutual_secret":"plain")");
    EXPECT_EQ(changed.status(), 200) << changed.body();
    EXPECT_EQ(changed.at("location"), "https://example.org/new");
    EXPECT_THAT(changed.at("event_types"), HasSubstr("DELETE"));
    EXPECT_EQ(changed.at("mutual_secret"), "");
    const auto set = [&](const std::string& status) {
        return node.post(proxy + "/events/setWebhookStatus",
                         R"({"webhook_id":)" + made.at("id") + R"(,"status":)" + status + "}");
    };
    EXPECT_EQ(set("\"DISABLED\"").at("status_reason"), "disabled by user 1");
    EXPECT_EQ(set("0").at("status"), "ENABLED");
    expect_refused(set("\"OFF\""), 400, error_code::invalid_argument, "ENABLED");
    expect_refused(node.post(proxy + "/events/setWebhookStatus", R"({"webhook_id":1})"), 400,
                   error_code::invalid_argument, "status is missing");
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

TEST_F(handlers, a_test_of_a_webhook_tells_what_the_receiver_answered_or_why_it_did_not) {
    const reply made = node.post(proxy + "/events/createWebhook", hook());
    const std::string body = R"({"webhook_id":)" + made.at("id") + "}";
    schemas::attempt attempt;
    attempt.status = 418;
    node.tests.answer = attempt;
    EXPECT_EQ(node.post(proxy + "/events/triggerTest", body).at("status_code"), "418");
    attempt.status = 401;
    attempt.total_us = 1'234;
    attempt.error = schemas::delivery_error::status;
    node.tests.answer = attempt;
    const reply refused = node.post(proxy + "/events/triggerTest", body);
    EXPECT_EQ(refused.at("attempt.total_us"), "1234") << refused.body();
    EXPECT_EQ(refused.at("attempt.error"), "status");
    EXPECT_THAT(refused.at("hint"), HasSubstr("secret"));
    ASSERT_EQ(node.tests.sent.size(), 2u);
    EXPECT_EQ(std::to_string(node.tests.sent.front().webhook_id.value), made.at("id"));
    EXPECT_THAT(node.tests.sent.front().event.body, HasSubstr("\"event_type\":\"TEST\""));
    node.tests.answer = error{error_code::deadline_exceeded, "no worker took it"};
    expect_refused(node.post(proxy + "/events/triggerTest", body), 400, error_code::failed_precondition,
                   "no worker took it");
    expect_refused(node.post(proxy + "/events/triggerTest", R"({"webhook_id":99})"), 404,
                   error_code::not_found, "webhook 99");
}

TEST_F(handlers, an_event_of_another_system_is_told_once) {
    const std::string body =
        R"({"event_uuid":"u-1","event_type":"UPDATE","workspace_id":1,"timestamp":"1600000000000",)"
        R"("resource_type":{"deployment_service_resource_type":"ENDPOINT"},"new_entity":{"id":7}})";
    const reply first = node.post(proxy + "/events/createEvent", body);
    EXPECT_EQ(first.status(), 200) << first.body();
    EXPECT_EQ(node.post(proxy + "/events/createEvent", body).at("event_id"), first.at("event_id"));
    expect_refused(node.post(proxy + "/events/createEvent",
                             R"({"event_uuid":"u","event_type":"PROMOTE","resource_type":"BUILD"})"),
                   400, error_code::invalid_argument, "PROMOTE");
    expect_refused(node.post(proxy + "/events/createEvent",
                             R"({"event_uuid":"u","event_type":"CREATE","resource_type":"CAT"})"),
                   400, error_code::invalid_argument, "resource_type must be");
}

TEST_F(handlers, a_webhook_without_a_good_secret_is_taken_with_a_warning) {
    const auto warning = [&](const std::string& name, const std::string& secret) {
        const reply made =
            node.post(proxy + "/events/createWebhook",
                      R"({"name":")" + name + R"(","location":"https://example.org/","all_events":true,)" +
                          R"("mutual_secret":")" + secret + "\"}");
        EXPECT_EQ(made.status(), 200) << made.body();
        return made.header("svc-warning");
    };
    EXPECT_THAT(warning("none", ""), HasSubstr("not signed"));
    EXPECT_THAT(warning("short", "abc"), HasSubstr("3 bytes"));
    EXPECT_EQ(warning("good", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), "");
}

TEST_F(handlers, webhooks_are_found_by_admins_of_their_workspace_alone) {
    ASSERT_EQ(node.post(proxy + "/events/createWebhook", hook()).status(), 200);
    const caller reader = node.user("reader@example.org");
    const std::string org = "/api/v2/uac-proxy/organization/1";
    const reply role = node.post(
        org + "/roles",
        R"({"role":{"name":"reads","resource_actions":[{"resource_type":"REGISTERED_MODEL","allowed_actions":["READ"]}]}})");
    ASSERT_EQ(role.status(), 200) << role.body();
    const reply given = node.post(org + "/workspaces/1/permissions",
                                  R"({"group_id":"2","role_id":")" + role.at("role.id") + "\"}");
    ASSERT_EQ(given.status(), 200) << given.body();
    EXPECT_EQ(node.ask(&reader, "GET", "/api/v1/uac-proxy/workspace/getWorkspaceById?id=1").status(), 200);
    EXPECT_EQ(node.ask(&reader, "POST", proxy + "/events/findWebhook", "{}").at("total_records"), "0");
    EXPECT_EQ(node.ask(&reader, "GET", registry_path + "/workspaces/Default/policies").status(), 200)
        << "who reads models there reads what their stages need";
    EXPECT_EQ(node.post(proxy + "/events/findWebhook", "{}").at("total_records"), "1");
}

}  // namespace
}  // namespace herald::test
