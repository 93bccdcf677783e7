// Protects what is sent (delivery.md §2): the webhook's row at the attempt decides secrets, headers, time and
// form, and no secret gets into the history.
#include "workers/request_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/crypto.hpp"
#include "runtime/signing.hpp"
#include "schemas/json.hpp"
#include "tests/support/seeded_random.hpp"
#include "workers/signing.hpp"

namespace herald::test {
namespace {

using namespace workers;

class request_maker : public testing::Test {
  protected:
    request_maker() {
        event.id = "1-1";
        event.type = schemas::event_type::promote;
        event.resource_type = schemas::resource_type::registered_model_version;
        event.resource_id = "5";
        event.workspace_id = {1};
        event.body = R"({"id":"5"})";
        row.webhook_id = {1};
        row.settings.location = "https://receiver.example/";
        seal("new secret", row.sealed_secret, row.seal_binding);
    }
    void seal(const std::string& text, std::string& sealed, std::string& binding) {
        binding = "webhook:" + text;
        sealed = keys.seal(binding, text, random);
    }
    made_request make(std::int64_t log_ms = 1'000) {
        delivery_of_event what;
        what.record.id = "msg_1";
        what.event = std::make_shared<const schemas::event>(event);
        const auto made = make_request(what, row, {keys, "svc-", 1'700'000'000'000, log_ms});
        EXPECT_TRUE(made);
        return *made;
    }
    static std::string value_of(const made_request& made, const std::string& name) {
        for (const auto& header : made.request.headers)
            if (header.name == name) return header.value;
        return {};
    }
    static std::string signed_text(const made_request& made) {
        return "msg_1.1700000000." + *made.request.body;
    }

    seeded_random random{7};
    runtime::key_ring keys = runtime::key_ring::of("k1", std::string(32, 'k'));
    schemas::event event;
    schemas::subscriber row;
};

TEST_F(request_maker, both_secrets_sign_until_the_overlap_ends_by_the_logs_clock) {
    seal("old secret", row.earlier_secret.sealed_secret, row.earlier_secret.seal_binding);
    row.earlier_secret.until_ms = 1'001;
    const auto during = make(1'000);
    const std::string with_new = standard_signature("new secret", signed_text(during));
    EXPECT_EQ(value_of(during, "webhook-signature"),
              with_new + " " + standard_signature("old secret", signed_text(during)));
    EXPECT_EQ(value_of(during, "x-hub-signature-256"), github_signature("new secret", event.body));
    EXPECT_EQ(value_of(make(1'001), "webhook-signature"), with_new);
}

TEST_F(request_maker, an_ed25519_signature_stands_beside_that_of_the_secret_or_alone) {
    row.settings.delivery.asymmetric = true;
    const auto both = make();
    const std::string by_secret = standard_signature("new secret", signed_text(both)) + " v1a,";
    const std::string value = value_of(both, "webhook-signature");
    ASSERT_TRUE(value.starts_with(by_secret)) << value;
    const auto signature = runtime::from_base64(value.substr(by_secret.size()));
    ASSERT_TRUE(signature);
    EXPECT_TRUE(runtime::is_signed_by(runtime::signing_public_key(keys.webhook_keys().front().seed),
                                      signed_text(both), *signature));
    row.sealed_secret.clear();
    const auto alone = make();
    EXPECT_TRUE(value_of(alone, "webhook-signature").starts_with("v1a,"));
    EXPECT_EQ(value_of(alone, "x-hub-signature-256"), "");
}

TEST_F(request_maker, structured_mode_wraps_the_body_and_signs_what_is_sent) {
    row.settings.delivery.content_mode = schemas::content_mode::structured;
    const auto made = make();
    EXPECT_EQ(*made.request.body,
              R"({"specversion":"1.0","id":"1-1","source":"/workspaces/1/registered_model_version",)"
              R"("type":"herald.promote","time":"1970-01-01T00:00:00.000Z","subject":"5",)"
              R"("datacontenttype":"application/json","data":{"id":"5"}})");
    EXPECT_EQ(value_of(made, "content-type"), "application/cloudevents+json");
    EXPECT_EQ(value_of(made, "webhook-signature"), standard_signature("new secret", signed_text(made)));
    row.settings.delivery.content_mode = schemas::content_mode::binary;
    EXPECT_EQ(*make().request.body, event.body);
}

TEST_F(request_maker, own_headers_are_sent_and_the_history_has_only_their_names) {
    schemas::webhook_header own;
    own.name = "authorization";
    seal("Bearer very-secret", own.sealed_value, own.seal_binding);
    row.headers.push_back(own);
    const auto made = make();
    EXPECT_EQ(value_of(made, "authorization"), "Bearer very-secret");
    EXPECT_THAT(made.headers_for_history, testing::HasSubstr("authorization: (left out)\n"));
    EXPECT_THAT(made.headers_for_history, testing::Not(testing::HasSubstr("very-secret")));
}

TEST_F(request_maker, the_time_of_an_attempt_bounds_connecting_too) {
    row.settings.delivery.timeout_ms = 1'500;
    EXPECT_EQ(make().request.deadline_ms, 1'500);
    EXPECT_EQ(make().request.connect_ms_max, 1'500);
    row.settings.delivery.timeout_ms = 30'000;
    EXPECT_EQ(make().request.deadline_ms, 30'000);
    EXPECT_EQ(make().request.connect_ms_max, limits::delivery_connect_ms);
}

TEST_F(request_maker, a_secret_of_another_key_ring_makes_no_request) {
    const auto others = runtime::key_ring::of("k2", std::string(32, 'x'));
    delivery_of_event what;
    what.event = std::make_shared<const schemas::event>(event);
    EXPECT_FALSE(make_request(what, row, {others, "svc-", 0, 0}));
}

}  // namespace
}  // namespace herald::test
