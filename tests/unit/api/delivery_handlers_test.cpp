// Protects the calls for deliveries (wire.md §7 "Deliveries"): who sees what, who sends again, and what is
// sent then.
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;
using schemas::delivery_state;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string deliveries = proxy + "/events/deliveries";

struct delivery_handlers : handlers {
    void SetUp() override {
        const reply made =
            node.post(proxy + "/events/createWebhook",
                      R"({"name":"w","location":"https://example.org:8443/hook","all_events":true})");
        webhook = made.at("id");
        model = node.model("m");
        row.id = std::string(32, 'a');
        row.webhook_id.value = std::stoull(webhook);
        row.event_id = "1-none";
        row.event_type = schemas::event_type::create;
        row.resource_type = schemas::resource_type::registered_model;
        row.resource_id = model;
        row.workspace_id.value = 1;
        row.time_event_ms = 1'764'244'800'000;
        row.state = delivery_state::waiting;
        row.attempts = 1;
        row.last_ms = row.time_event_ms + 10;
        row.last_status = 503;
        row.last_error = delivery_error::status;
        row.last_message = "the receiver answered 503";
        row.next_attempt_ms = row.last_ms + 5'000;
        node.history.rows = {row};
        storage::deliveries::attempt_in_full attempt;
        attempt.made.number = 1;
        attempt.made.address = "192.0.2.7:8443";
        attempt.made.request_headers = "webhook-id: x";
        attempt.made.response_body = "the body";
        attempt.has_bodies = true;
        node.history.attempts_ = {attempt};
    }

    std::string webhook, model;
    schemas::delivery_row row;
};

TEST_F(delivery_handlers, a_delivery_is_shown_with_the_names_of_what_it_is_about) {
    const reply list = node.get(deliveries);
    ASSERT_EQ(list.status(), 200) << list.body();
    EXPECT_EQ(list.at("total_records"), "1");
    EXPECT_EQ(list.at("deliveries.0.resource"), "model/" + model);
    EXPECT_EQ(list.at("deliveries.0.subject.model"), "m");
    EXPECT_EQ(list.at("deliveries.0.webhook.host"), "example.org:8443");
    EXPECT_EQ(list.at("deliveries.0.last.status"), "503");
    EXPECT_EQ(list.at("deliveries.0.attempts_max"), "11");
    EXPECT_EQ(list.at("deliveries.0.next_attempt.time"), "2025-11-27T12:00:05.010Z");
    const reply whole = node.get(deliveries + "/" + row.id);
    EXPECT_THAT(whole.at("sentence"), HasSubstr("busy (503). It will be sent again."));
    EXPECT_EQ(whole.at("attempts.0.response_body"), "the body");
    EXPECT_EQ(whole.at("schedule.0.number"), "2");
    EXPECT_EQ(node.get(deliveries + "/none").status(), 404);
}

TEST_F(delivery_handlers, filters_take_what_is_there_and_leave_the_rest_out) {
    for (const std::string query :
         {"state=waiting,dead", "status=5xx", "status=503", "error=status", "event_type=CREATE"})
        EXPECT_EQ(node.get(deliveries + "?" + query).at("total_records"), "1") << query;
    for (const std::string query :
         {"state=dead", "status=404", "status=none", "error=dns", "event_id=1-other"})
        EXPECT_EQ(node.get(deliveries + "?" + query).at("total_records"), "0") << query;
    EXPECT_EQ(node.get(deliveries + "?resource=model/" + model).at("total_records"), "1");
    EXPECT_EQ(node.get(deliveries + "?until=2025-11-27T12:00:00Z").at("total_records"), "0");
}

TEST_F(delivery_handlers, callers_without_rights_see_nothing_and_send_nothing_again) {
    const caller stranger = node.user("stranger@example.org");
    for (const std::string& path :
         {deliveries + "?workspace_id=1", deliveries + "/" + row.id, deliveries + "/dead?workspace_id=1",
          proxy + "/events/replays?workspace_id=1", proxy + "/events/webhookHealth?workspace_id=1"})
        EXPECT_EQ(node.ask(&stranger, "GET", path).status(), 404) << path;
    for (const auto& [path, body] :
         {std::pair{deliveries + "/retry", R"({"ids":[")" + row.id + R"("]})"},
          {proxy + "/events/retriggerWebhookCall", R"({"call_id":")" + row.id + R"("})"},
          {proxy + "/events/replays", R"({"webhook_id":)" + webhook + "}"},
          {proxy + "/events/replays", R"({"webhook_id":)" + webhook + R"(,"dry_run":true})"},
          {deliveries + "/retry", std::string(R"({"filter":{"state":"dead"},"workspace_id":1})")}})
        EXPECT_EQ(node.ask(&stranger, "POST", path, body).status(), 404) << path << " " << body;
    EXPECT_TRUE(node.sent_again.resent.empty());
}

TEST_F(delivery_handlers, readers_of_the_model_see_what_became_of_it_without_headers_bodies_and_addresses) {
    const caller reader =
        node.administrator_named("reader@example.org");  // of Admins, but no system administrator
    const reply whole = node.ask(&reader, "GET", deliveries + "/" + row.id);
    ASSERT_EQ(whole.status(), 200) << whole.body();
    EXPECT_EQ(whole.at("attempts.0.number"), "1");
    for (const std::string secret : {"192.0.2.7", "webhook-id: x", "the body"})
        EXPECT_THAT(whole.body(), Not(HasSubstr(secret)));
    node.history.rows[0].resource_id = "99";  // it is gone
    EXPECT_EQ(node.ask(&reader, "GET", deliveries + "/" + row.id).status(), 404);
    EXPECT_EQ(node.ask(&reader, "GET", deliveries + "?workspace_id=1").at("total_records"), "0");
    EXPECT_EQ(node.get(deliveries + "/" + row.id).status(), 200) << "an administrator still sees it";
}

TEST_F(delivery_handlers, a_resend_takes_the_body_of_the_event_and_counts_its_attempts_on) {
    const reply event = node.get(proxy + "/events/deliveries/event?event_id=" + row.event_id);
    EXPECT_EQ(event.status(), 404);
    expect_refused(node.post(deliveries + "/retry", R"({"ids":[")" + row.id + R"("]})"), 404,
                   error_code::not_found, "30 days");
    const std::string id = node.newest_event();
    node.history.rows[0].event_id = id;
    const reply again = node.post(deliveries + "/retry", R"({"ids":[")" + row.id + R"("]})");
    ASSERT_EQ(again.status(), 200) << again.body();
    EXPECT_EQ(again.at("call_id"), row.id);
    EXPECT_EQ(again.at("attempts_made"), "1");
    ASSERT_EQ(node.sent_again.resent.size(), 1u);
    const schemas::delivery& sent = node.sent_again.resent[0];
    EXPECT_EQ(sent.id, schemas::delivery_id(id, row.webhook_id));
    EXPECT_EQ(sent.attempts_before, 1u);
    EXPECT_TRUE(sent.is_extra) << "it waits for its next attempt anyway";
    EXPECT_FALSE(sent.event.body.empty());
    EXPECT_TRUE(sent.event.audience.empty());
}

TEST_F(delivery_handlers, several_deliveries_are_sent_by_a_replay_that_can_be_looked_at) {
    node.history.rows[0].event_id = node.newest_event();
    const std::string ids = R"(["ID","ID"])";
    std::string body = R"({"ids":)" + ids + "}";
    for (std::size_t at = 0; (at = body.find("ID", at)) != body.npos;) body.replace(at, 2, row.id);
    const reply begun = node.post(deliveries + "/retry", body);
    ASSERT_EQ(begun.status(), 200) << begun.body();
    EXPECT_EQ(begun.at("replay.state"), "RUNNING");
    const std::string place = proxy + "/events/replays/" + begun.at("replay.id");
    EXPECT_EQ(node.get(place).at("replay.by"), std::string(admin_email));
    EXPECT_EQ(node.post(place + "/pause", "").at("replay.state"), "PAUSED");
    EXPECT_EQ(node.post(place + "/resume", "").at("replay.state"), "RUNNING");
    EXPECT_EQ(node.post(place + "/cancel", "").at("replay.state"), "CANCELLED");
    EXPECT_EQ(node.post(place + "/resume", "").status(), 400);
    EXPECT_EQ(node.get(proxy + "/events/replays").at("total_records"), "1");
    const reply trial =
        node.post(proxy + "/events/replays", R"({"webhook_id":)" + webhook + R"(,"dry_run":true})");
    EXPECT_EQ(trial.at("count"), "0") << trial.body();
}

TEST_F(delivery_handlers, calls_of_the_published_interface_are_deliveries) {
    const reply found = node.post(proxy + "/events/findWebhookCall", R"({"status":["IN_PROGRESS"]})");
    EXPECT_EQ(found.at("webhook_calls.0.id"), row.id) << found.body();
    EXPECT_EQ(found.at("webhook_calls.0.event_uuid"), row.event_id);
    EXPECT_EQ(found.at("webhook_calls.0.attempts.0.number"), "1");
    EXPECT_EQ(node.post(proxy + "/events/findWebhookCall", R"({"status":[1]})").at("total_records"), "0");
}

TEST_F(delivery_handlers, the_health_of_webhooks_is_for_those_who_look_after_them) {
    const reply health = node.get(proxy + "/events/webhookHealth");
    EXPECT_EQ(health.at("webhooks.0.webhook.name"), "w") << health.body();
    EXPECT_EQ(health.at("webhooks.0.state"), "ENABLED");
    const caller admin_there = node.administrator_named("admins@example.org");
    EXPECT_EQ(node.ask(&admin_there, "GET", proxy + "/events/webhookHealth?workspace_id=1").status(), 200);
}

}  // namespace
}  // namespace herald::test
