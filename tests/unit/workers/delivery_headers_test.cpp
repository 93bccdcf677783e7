// Protects what a delivery says of itself: each header by its name and value, signed by every live secret,
// and nothing that a caller wrote can add another.
#include "workers/delivery_headers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/version.hpp"
#include "schemas/delivery_headers.hpp"
#include "tests/unit/workers/known_signatures.hpp"
#include "workers/signing.hpp"

namespace herald::test {
namespace {

using namespace workers;

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

TEST(delivery_headers_test, every_live_secret_signs_and_the_newest_signs_for_github) {
    const schemas::event event = promote();
    delivery_description delivery = describe(event);
    delivery.secrets = {whsec, "", plain};
    const auto headers = delivery_headers(delivery, "svc-");
    EXPECT_EQ(value_of(headers, "webhook-signature"), whsec_signature + " " + plain_signature);
    EXPECT_EQ(value_of(headers, "x-hub-signature-256"), github_signature(whsec, body));
}

TEST(delivery_headers_test, the_workspace_and_where_to_report_are_said_in_characters_that_headers_may_hold) {
    schemas::event event = promote();
    auto headers = delivery_headers(describe(event), "svc-");
    EXPECT_EQ(value_of(headers, "svc-workspace"), "(none)") << "an event without the name of its workspace";
    EXPECT_EQ(value_of(headers, "svc-report-url"), "(none)");
    event.workspace_name = "Flie\xc3\x9f band\r\n100%";
    event.report_url = "https://herald.example/api/v1/x/Flie%C3%9F/scan\r\nset-cookie: a";
    headers = delivery_headers(describe(event), "svc-");
    EXPECT_EQ(value_of(headers, "svc-workspace"), "Flie%C3%9F%20band%0D%0A100%25");
    EXPECT_EQ(value_of(headers, "svc-report-url"),
              "https://herald.example/api/v1/x/Flie%C3%9F/scan%0D%0Aset-cookie:%20a");
}

TEST(delivery_headers_test, without_a_secret_there_is_no_signature_header) {
    const schemas::event event = promote();
    delivery_description delivery = describe(event);
    delivery.secrets = {""};
    const auto headers = delivery_headers(delivery, "svc-");
    EXPECT_EQ(value_of(headers, "webhook-signature"), "(none)");
    EXPECT_EQ(value_of(headers, "x-hub-signature-256"), "(none)");
    EXPECT_EQ(value_of(headers, "webhook-id"), "msg_p5jXN8AQM9LWM0D4loKWxJek");
}

TEST(delivery_headers_test, the_headers_say_what_the_delivery_is) {
    const schemas::event event = promote();
    const auto headers = delivery_headers(describe(event), "svc-");
    const std::string agent = "herald/" + std::string(runtime::version());
    const std::pair<const char*, const char*> expected[]{
        {"content-type", "application/json"},
        {"user-agent", agent.c_str()},
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

TEST(delivery_headers_test, a_test_says_so_and_the_prefix_is_the_operators) {
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

TEST(delivery_headers_test, they_are_those_that_the_document_lists_each_where_it_says) {
    using schemas::delivery_header_in;
    schemas::event event = promote();
    event.workspace_name = "w";
    event.report_url = "https://herald.example/";
    delivery_description delivery = describe(event);
    delivery.secrets = {whsec};
    delivery.test = true;
    const auto whole = delivery_headers(delivery, "svc-");
    EXPECT_EQ(whole.size(), schemas::delivery_headers.size() + 2) << "content-type and user-agent are HTTP's";
    event = {};
    delivery.secrets.clear();
    delivery.test = false;
    const auto least = delivery_headers(delivery, "svc-");
    for (const schemas::delivery_header_row& each : schemas::delivery_headers) {
        const std::string name = schemas::name_of(each.which, "svc-");
        EXPECT_NE(value_of(whole, name), "(none)") << name;
        EXPECT_EQ(value_of(least, name) != "(none)", each.in == delivery_header_in::all) << name;
    }
}

TEST(delivery_headers_test, what_callers_wrote_cannot_break_out_of_a_header) {
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

TEST(delivery_headers_test, the_history_sees_no_signature) {
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
