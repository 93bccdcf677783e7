// Protects the signatures: receivers check them with libraries that know nothing of Herald, so the expected
// values were computed elsewhere, with Python:
//   base64.b64encode(hmac.new(key, b"{id}.{timestamp}.{body}", hashlib.sha256).digest())
//   hmac.new(b"<the secret's text>", body, hashlib.sha256).hexdigest()
#include "workers/signing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/crypto.hpp"

namespace herald::test {
namespace {

using namespace workers;

const std::string whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string whsec_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const std::string plain = "plain secret \xc3\xa4";
const std::string plain_signature = "v1,/+TH9fi2nR7RvwHOeYjR4LOfMQljYpNQ/Tj1XKeudGU=";
const std::string body = R"({"test": 2432232314})";

schemas::event promote() {
    schemas::event event;
    event.id = "1-0123456789abcdef0123456789abcdef";
    event.type = schemas::event_type::promote;
    event.resource_type = schemas::resource_type::registered_model_version;
    event.resource_id = "42";
    event.workspace_id = {7};
    event.time_ms = 1'614'265'329'250;
    event.resource_sequence = 3;
    event.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    return event;
}

delivery_description describe(const schemas::event& event) {
    delivery_description delivery;
    delivery.id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    delivery.time_ms = 1'614'265'330'999;
    delivery.attempt = 2;
    delivery.body = body;
    delivery.event = &event;
    return delivery;
}

std::string value_of(const std::vector<runtime::http::header>& headers, const std::string& name) {
    const auto found =
        std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.name == name; });
    return found == headers.end() ? "(none)" : found->value;
}

TEST(signing, known_answers_hold) {
    const std::string signed_text = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330." + body;
    EXPECT_EQ(standard_signature(whsec, signed_text), whsec_signature);
    EXPECT_EQ(standard_signature(plain, signed_text), plain_signature);
    EXPECT_EQ(github_signature(whsec, body),
              "sha256=80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c")
        << "keyed with the text as configured, also for whsec_";
}

TEST(signing, only_a_well_formed_whsec_is_decoded) {
    const auto whsec_of = [](std::size_t bytes) {
        return "whsec_" + runtime::to_base64(std::string(bytes, 'k'));
    };
    EXPECT_EQ(signing_key(whsec_of(24)), std::string(24, 'k'));
    EXPECT_EQ(signing_key(whsec_of(64)), std::string(64, 'k'));
    const std::string unpadded = whsec_of(32).substr(0, 6 + 43);
    EXPECT_EQ(signing_key(unpadded), std::string(32, 'k'));
    EXPECT_EQ(signing_key(unpadded + "=="), std::string(32, 'k'));
    for (const std::string& raw :
         {whsec_of(23), whsec_of(65), std::string("whsec_"), std::string("whsec_===="),
          std::string("whsec_!!!!"), whsec_of(32).substr(0, 6 + 41), std::string("WHSEC_") + whsec.substr(6),
          std::string("secret")}) {
        EXPECT_EQ(signing_key(raw), raw);
    }
}

TEST(signing, every_live_secret_signs_and_the_newest_signs_for_github) {
    const schemas::event event = promote();
    delivery_description delivery = describe(event);
    delivery.secrets = {whsec, "", plain};
    const auto headers = delivery_headers(delivery, "svc-");
    EXPECT_EQ(value_of(headers, "webhook-signature"), whsec_signature + " " + plain_signature);
    EXPECT_EQ(value_of(headers, "x-hub-signature-256"), github_signature(whsec, body));
}

TEST(signing, without_a_secret_there_is_no_signature_header) {
    const schemas::event event = promote();
    delivery_description delivery = describe(event);
    delivery.secrets = {""};
    const auto headers = delivery_headers(delivery, "svc-");
    EXPECT_EQ(value_of(headers, "webhook-signature"), "(none)");
    EXPECT_EQ(value_of(headers, "x-hub-signature-256"), "(none)");
    EXPECT_EQ(value_of(headers, "webhook-id"), "msg_p5jXN8AQM9LWM0D4loKWxJek");
}

TEST(signing, the_headers_say_what_the_delivery_is) {
    const schemas::event event = promote();
    const auto headers = delivery_headers(describe(event), "svc-");
    const std::pair<const char*, const char*> expected[]{
        {"content-type", "application/json"},
        {"user-agent", "herald/" HERALD_VERSION},
        {"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
        {"webhook-timestamp", "1614265330"},
        {"svc-event-id", "1-0123456789abcdef0123456789abcdef"},
        {"svc-event-type", "PROMOTE"},
        {"svc-event-time", "2021-02-25T15:02:09.250Z"},
        {"svc-resource-type", "REGISTERED_MODEL_VERSION"},
        {"svc-attempt", "2"},
        {"svc-sequence", "3"},
        {"svc-test", "(none)"},
        {"ce-specversion", "1.0"},
        {"ce-id", "1-0123456789abcdef0123456789abcdef"},
        {"ce-source", "/workspaces/7/registered_model_version"},
        {"ce-type", "herald.promote"},
        {"ce-time", "2021-02-25T15:02:09.250Z"},
        {"ce-subject", "42"},
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    };
    for (const auto& [name, value] : expected) EXPECT_EQ(value_of(headers, name), value) << name;
}

TEST(signing, a_test_says_so_and_the_prefix_is_the_operators) {
    schemas::event event = promote();
    event.resource_type = schemas::resource_type::none;
    event.resource_id.clear();
    delivery_description delivery = describe(event);
    delivery.test = true;
    const auto headers = delivery_headers(delivery, "acme-");
    EXPECT_EQ(value_of(headers, "acme-test"), "true");
    EXPECT_EQ(value_of(headers, "acme-event-type"), "TEST");
    EXPECT_EQ(value_of(headers, "ce-type"), "herald.test");
    EXPECT_EQ(value_of(headers, "acme-resource-type"), "(none)");
    EXPECT_EQ(value_of(headers, "ce-subject"), "(none)");
    EXPECT_EQ(value_of(headers, "svc-test"), "(none)");
}

TEST(signing, what_callers_wrote_cannot_break_out_of_a_header) {
    schemas::event event = promote();
    event.resource_id = "a\r\nx-evil: 1 \"%\xc3\xa4";
    const auto headers = delivery_headers(describe(event), "svc-");
    EXPECT_EQ(value_of(headers, "ce-subject"), "a%0D%0Ax-evil:%201%20%22%25%C3%A4");
    for (const char* wrong : {"", "00-x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n",
                              "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                              "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                              "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                              "00-0af7651916cd43dd8448eb211c8031-c-b7ad6b7169203331-01"}) {
        event.traceparent = wrong;
        EXPECT_EQ(value_of(delivery_headers(describe(event), "svc-"), "traceparent"), "(none)") << wrong;
    }
}

TEST(signing, the_delivery_log_sees_no_signature) {
    const schemas::event event = promote();
    delivery_description delivery = describe(event);
    delivery.secrets = {whsec};
    const std::string shown = headers_without_secrets(delivery_headers(delivery, "svc-"));
    EXPECT_NE(shown.find("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek\n"), std::string::npos);
    EXPECT_NE(shown.find("webhook-signature: (left out)\n"), std::string::npos);
    EXPECT_NE(shown.find("x-hub-signature-256: (left out)\n"), std::string::npos);
    EXPECT_EQ(shown.find("v1,"), std::string::npos);
    EXPECT_EQ(shown.find("sha256="), std::string::npos);
}

}  // namespace
}  // namespace herald::test
