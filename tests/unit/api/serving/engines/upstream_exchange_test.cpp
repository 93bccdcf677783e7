// Protects what passes between Herald and a model's server: nothing of the caller but the body, and of the
// server only what wire.md §6 lets through.
#include "api/serving/engines/upstream_exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace herald::test {
namespace {

using namespace api::serving::engines;
namespace client = runtime::http::client;
using testing::HasSubstr;

client::answer answered(std::uint16_t status, std::vector<runtime::http::header> headers = {}) {
    client::answer out;
    out.status = status;
    out.headers = std::move(headers);
    out.body = "body";
    return out;
}

TEST(upstream_exchange, passes_on_what_worked_as_it_is) {
    for (const std::uint16_t status : std::vector<std::uint16_t>{200, 201, 202, 299}) {
        const auto meant = meaning_of(answered(
            status, {{"Content-Type", "text/csv"}, {"Content-Encoding", "br"}, {"Set-Cookie", "a=b"}}));
        ASSERT_TRUE(meant);
        EXPECT_EQ(meant->status, status);
        EXPECT_EQ(meant->content_type, "text/csv");
        EXPECT_EQ(meant->content_encoding, "br");
        EXPECT_EQ(meant->body, "body");
    }
}

TEST(upstream_exchange, makes_400_of_what_the_model_refuses) {
    for (const std::uint16_t status : std::vector<std::uint16_t>{400, 422}) {
        const auto meant = meaning_of(answered(status));
        ASSERT_TRUE(meant);
        EXPECT_EQ(meant->status, 400);
        EXPECT_EQ(meant->body, "body");
    }
}

TEST(upstream_exchange, says_how_long_to_wait_after_429) {
    EXPECT_EQ(meaning_of(answered(429, {{"retry-after", "7"}}))->retry_after, "7");
    EXPECT_EQ(meaning_of(answered(429))->retry_after, "1");
    EXPECT_EQ(meaning_of(answered(429, {{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}))->retry_after,
              "1");
    EXPECT_EQ(meaning_of(answered(429))->status, 429);
}

TEST(upstream_exchange, makes_502_of_everything_else) {
    for (const std::uint16_t status :
         std::vector<std::uint16_t>{301, 302, 307, 401, 403, 404, 408, 413, 500, 502, 503, 504}) {
        const auto meant = meaning_of(answered(status));
        ASSERT_FALSE(meant) << status;
        EXPECT_EQ(runtime::http_status(meant.error()), 502) << status;
        EXPECT_EQ(meant.error().message, "the upstream server answered " + std::to_string(status) +
                                             "; only 2xx, 400, 422 and 429 are passed on");
    }
    for (const auto failed :
         {client::failure::address_not_allowed, client::failure::dns, client::failure::connect,
          client::failure::tls, client::failure::write, client::failure::protocol}) {
        client::answer none;
        none.failed = failed;
        EXPECT_EQ(runtime::http_status(meaning_of(none).error()), 502);
    }
}

TEST(upstream_exchange, says_did_not_respond_only_where_nothing_of_an_answer_came) {
    client::answer failed;
    failed.failed = client::failure::protocol;
    failed.message = "why";
    EXPECT_EQ(meaning_of(failed).error().message, "the upstream server did not respond: why");
    EXPECT_EQ(why_unhealthy(failed, true, true), "the upstream server did not respond: why");
    failed.has_begun = true;
    EXPECT_EQ(meaning_of(failed).error().message, "the upstream server's answer cannot be used: why");
    EXPECT_EQ(why_unhealthy(failed, true, true), "the upstream server's answer cannot be used: why");
    failed.failed = client::failure::timeout;
    EXPECT_EQ(meaning_of(failed).error().message,
              "the upstream server did not finish its answer before the deadline: why");
    failed.has_begun = false;
    EXPECT_EQ(meaning_of(failed).error().message,
              "the upstream server did not respond before the deadline: why");
}

TEST(upstream_exchange, tells_a_deadline_and_its_own_shortage_apart) {
    client::answer late;
    late.failed = client::failure::timeout;
    EXPECT_EQ(runtime::http_status(meaning_of(late).error()), 504);
    client::answer lacking;
    lacking.failed = client::failure::connect;
    lacking.own_shortage = true;
    EXPECT_EQ(runtime::http_status(meaning_of(lacking).error()), 503);
    lacking.own_shortage = false;
    lacking.location_is_full = true;
    EXPECT_EQ(runtime::http_status(meaning_of(lacking).error()), 503);
}

TEST(upstream_exchange, sends_the_body_what_reads_it_and_the_id) {
    body_request asked;
    asked.request_id = "r-1";
    asked.body = "bytes";
    const auto sent = request_to("http://a/b", "key", asked, 1'234);
    std::map<std::string, std::string> headers;
    for (const auto& [name, value] : sent.headers) headers[name] = value;
    EXPECT_THAT(headers, testing::UnorderedElementsAre(testing::Pair("content-type", "application/json"),
                                                       testing::Pair("accept-encoding", "identity"),
                                                       testing::Pair("svc-request-id", "r-1"),
                                                       testing::Pair("x-request-id", "r-1")));
    EXPECT_EQ(*sent.body, "bytes");
    EXPECT_EQ(sent.answer, client::answer_body::collected_if_short);
    EXPECT_EQ(sent.deadline_ms, 1'234);
    EXPECT_TRUE(sent.deadline_ends_body);
    EXPECT_EQ(sent.on_reused, client::repeat::unless_begun);
}

TEST(upstream_exchange, looks_at_the_health_of_the_same_server) {
    EXPECT_EQ(*health_url("http://a.example:81/predict?x=/y", "/ping?deep=1"),
              "http://a.example:81/ping?deep=1");
    EXPECT_EQ(*health_url("https://a.example", "/"), "https://a.example/");
    EXPECT_EQ(*health_url("https://a.example?x", "/h"), "https://a.example/h");
    for (const char* bad : {"ping", "", "/a b", "/a\r\nHost: x", "/a#b", "@evil.example/"})
        EXPECT_FALSE(health_url("http://a.example/", bad)) << bad;
}

TEST(upstream_exchange, calls_a_server_healthy_by_2xx_or_without_a_path_by_a_connection) {
    EXPECT_EQ(why_unhealthy(answered(204), true, true), "");
    EXPECT_THAT(why_unhealthy(answered(302), true, true), HasSubstr("302"));
    EXPECT_EQ(why_unhealthy(answered(503), true, true), "its health check answered 503, not 2xx");
    client::answer refused;
    refused.failed = client::failure::connect;
    refused.message = "connection refused";
    EXPECT_THAT(why_unhealthy(refused, false, false), HasSubstr("connection refused"));
    EXPECT_EQ(why_unhealthy(refused, false, true), "");
}

}  // namespace
}  // namespace herald::test
