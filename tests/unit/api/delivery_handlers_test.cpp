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

std::string repeated(const std::string& text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

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
        row.last_message = "the attempt at 192.0.2.7:8443 was answered with 503";
        row.next_attempt_ms = row.last_ms + 5'000;
        node.history.rows = {row};
        storage::deliveries::attempt_in_full attempt;
        attempt.made.number = 1;
        attempt.made.address = "192.0.2.7:8443";
        attempt.made.message = row.last_message;
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
    const schemas::event event = node.event_about(schemas::resource_type::registered_model);
    node.history.rows[0].event_id = event.id;
    ASSERT_EQ(node.post(proxy + "/events/replays", R"({"webhook_id":)" + webhook + "}").status(), 200);
    for (const std::string& path :
         {deliveries + "?workspace_id=1", deliveries + "/" + row.id, deliveries + "/dead?workspace_id=1",
          deliveries + "/event?event_id=" + event.id, proxy + "/events/replays?workspace_id=1",
          proxy + "/events/replays/1", proxy + "/events/webhookHealth?workspace_id=1"})
        EXPECT_EQ(node.ask(&stranger, "GET", path).status(), 404) << path;
    for (const auto& [path, body] :
         {std::pair{deliveries + "/retry", R"({"ids":[")" + row.id + R"("]})"},
          {proxy + "/events/retriggerWebhookCall", R"({"call_id":")" + row.id + R"("})"},
          {proxy + "/events/replays/1/pause", std::string()},
          {proxy + "/events/replays/1/resume", std::string()},
          {proxy + "/events/replays/1/cancel", std::string()},
          {deliveries + "/retry", std::string(R"({"filter":{"state":"dead"},"workspace_id":1})")},
          {deliveries + "/retry", std::string(R"({"filter":{},"workspace_id":1,"dry_run":true})")}})
        EXPECT_EQ(node.ask(&stranger, "POST", path, body).status(), 404) << path << " " << body;
    for (const std::string& body : {R"({"webhook_id":)" + webhook + "}", std::string(R"({"webhook_id":99})"),
                                    R"({"webhook_id":)" + webhook + R"(,"dry_run":true})"})
        EXPECT_EQ(node.ask(&stranger, "POST", proxy + "/events/replays", body).status(), 403) << body;
    for (const std::string& body :
         {R"({"ids":[")" + row.id + R"("]})", R"({"webhook_ids":[)" + webhook + "]}",
          R"({"event_uuids":[")" + event.id + R"("]})", std::string("{}")}) {
        const reply found = node.ask(&stranger, "POST", proxy + "/events/findWebhookCall", body);
        EXPECT_EQ(found.at("total_records"), "0") << body << found.body();
        EXPECT_EQ(found.at("webhook_calls"), "[]") << body;
    }
    EXPECT_TRUE(node.sent_again.resent.empty());
}

TEST_F(delivery_handlers, readers_of_the_model_see_what_became_of_it_without_headers_bodies_and_addresses) {
    const caller reader =
        node.administrator_named("reader@example.org");  // of Admins, but no system administrator
    const reply whole = node.ask(&reader, "GET", deliveries + "/" + row.id);
    ASSERT_EQ(whole.status(), 200) << whole.body();
    EXPECT_EQ(whole.at("attempts.0.number"), "1");
    const std::string event_id = node.event_about(schemas::resource_type::registered_model).id;
    node.history.rows[0].event_id = event_id;
    for (const std::string& shown :
         {whole.body(), node.ask(&reader, "GET", deliveries + "?workspace_id=1").body(),
          node.ask(&reader, "GET", deliveries + "/event?event_id=" + event_id).body(),
          node.ask(&reader, "POST", proxy + "/events/findWebhookCall", R"({"ids":[")" + row.id + R"("]})")
              .body()})
        for (const std::string secret : {"192.0.2.7", "webhook-id: x", "the body", "\"body\""})
            EXPECT_THAT(shown, Not(HasSubstr(secret)));
    node.history.rows[0].state = delivery_state::dead;
    EXPECT_THAT(node.ask(&reader, "GET", deliveries + "/" + row.id).at("sentence"),
                HasSubstr("It was given up."));
    EXPECT_THAT(node.get(deliveries + "/" + row.id).at("sentence"),
                HasSubstr("given up: the attempt at 192.0.2.7"));
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
    const std::string id = node.event_about(schemas::resource_type::registered_model).id;
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

TEST_F(delivery_handlers, an_event_says_what_caused_it) {
    const reply event = node.get(
        deliveries + "/event?event_id=" + node.event_about(schemas::resource_type::registered_model).id);
    ASSERT_EQ(event.status(), 200) << event.body();
    EXPECT_EQ(event.at("cause.who"), std::string(admin_email));
    EXPECT_EQ(event.at("audience.0.webhook.name"), "w");
    EXPECT_FALSE(event.at("body").empty());
}

TEST_F(delivery_handlers, several_deliveries_are_sent_by_a_replay_that_can_be_looked_at) {
    node.history.rows[0].event_id = node.event_about(schemas::resource_type::registered_model).id;
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

TEST_F(delivery_handlers, a_replay_is_seen_and_changed_by_who_began_it_and_by_who_may_change_webhooks) {
    node.history.rows[0].event_id = node.event_about(schemas::resource_type::registered_model).id;
    const caller editor = node.administrator_named("editor@example.org");  // no system administrator
    const caller other = node.administrator_named("other@example.org");
    const reply begun = node.ask(&editor, "POST", deliveries + "/retry",
                                 R"({"ids":[")" + row.id + R"(",")" + row.id + R"("]})");
    ASSERT_EQ(begun.status(), 200) << begun.body();
    const std::string place = proxy + "/events/replays/" + begun.at("replay.id");
    EXPECT_EQ(node.ask(&other, "GET", place).status(), 404);
    EXPECT_EQ(node.ask(&other, "POST", place + "/pause").status(), 404);
    EXPECT_EQ(node.ask(&other, "GET", proxy + "/events/replays?workspace_id=1").at("total_records"), "0");
    for (const caller* who : {&editor, &node.administrator}) {
        EXPECT_EQ(node.ask(who, "GET", place).status(), 200);
        EXPECT_EQ(node.ask(who, "POST", place + "/pause").at("replay.state"), "PAUSED");
        EXPECT_EQ(node.ask(who, "POST", place + "/resume").at("replay.state"), "RUNNING");
        EXPECT_EQ(node.ask(who, "GET", proxy + "/events/replays?workspace_id=1").at("total_records"), "1");
    }
    EXPECT_EQ(
        node.ask(&editor, "POST", proxy + "/events/replays", R"({"webhook_id":)" + webhook + "}").status(),
        403);
    EXPECT_EQ(node.ask(&editor, "POST", deliveries + "/retry", R"({"filter":{},"workspace_id":1})").status(),
              403);
}

TEST_F(delivery_handlers, calls_of_the_published_interface_are_deliveries) {
    const reply found = node.post(proxy + "/events/findWebhookCall", R"({"status":["IN_PROGRESS"]})");
    EXPECT_EQ(found.at("webhook_calls.0.id"), row.id) << found.body();
    EXPECT_EQ(found.at("webhook_calls.0.event_uuid"), row.event_id);
    EXPECT_EQ(found.at("webhook_calls.0.attempts.0.number"), "1");
    EXPECT_EQ(node.post(proxy + "/events/findWebhookCall", R"({"status":[1]})").at("total_records"), "0");
    EXPECT_EQ(node.post(proxy + "/events/findWebhookCall", R"({"status":[0]})").at("total_records"), "0");
    expect_refused(
        node.post(proxy + "/events/findWebhookCall", R"({"webhook_ids":[1)" + repeated(",1", 100) + "]}"),
        400, error_code::invalid_argument, "webhook_ids holds 101 entries; give at most 100");
}

TEST_F(delivery_handlers, calls_are_paged_by_number_and_by_token_and_each_comes_once) {
    const reply other = node.post(proxy + "/events/createWebhook",
                                  R"({"name":"other","location":"https://example.org/o","all_events":true})");
    node.history.rows.clear();
    for (std::size_t i = 0; i < 25; ++i) {
        schemas::delivery_row next = row;
        next.id = std::string(30, 'a') + std::to_string(10 + i);
        if (i % 2 == 0) next.webhook_id.value = std::stoull(other.at("id"));
        node.history.rows.push_back(next);
    }
    const std::string call = proxy + "/events/findWebhookCall";
    for (const std::string& which :
         {std::string(), R"("webhook_ids":[)" + webhook + "," + other.at("id") + "],"}) {
        std::vector<std::string> by_token, by_number;
        std::string token;
        do {
            const reply page = node.post(
                call, "{" + which + R"("pagination":{"page_limit":10,"page_token":")" + token + R"("}})");
            ASSERT_EQ(page.status(), 200) << page.body();
            EXPECT_EQ(page.at("total_records"), "25");
            for (int i = 0; !page.at("webhook_calls." + std::to_string(i) + ".id").empty(); ++i)
                by_token.push_back(page.at("webhook_calls." + std::to_string(i) + ".id"));
            token = page.at("next_page_token");
        } while (!token.empty());
        for (const std::string number : {"1", "2", "3"}) {
            const reply page = node.post(
                call, "{" + which + R"("pagination":{"page_limit":10,"page_number":)" + number + "}}");
            for (int i = 0; !page.at("webhook_calls." + std::to_string(i) + ".id").empty(); ++i)
                by_number.push_back(page.at("webhook_calls." + std::to_string(i) + ".id"));
        }
        std::vector<std::string> all;
        for (const schemas::delivery_row& each : node.history.rows) all.push_back(each.id);
        EXPECT_EQ(by_token, all) << which;
        EXPECT_EQ(by_number, all) << which;
    }
    expect_refused(node.post(call, R"({"pagination":{"page_limit":1000,"page_number":11}})"), 400,
                   error_code::invalid_argument, "reached by page_token");
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
