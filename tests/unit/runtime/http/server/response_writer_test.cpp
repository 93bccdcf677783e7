// Protects clients from answers that are not HTTP: whatever a handler puts into a response, the head remains
// one head.
#include "runtime/http/server/response_writer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace herald::test {
namespace {

using namespace runtime::http::server;

std::string written(const runtime::http::http_response& answer, const answer_facts& facts,
                    const std::vector<std::string>& prefixes = {"svc-"}) {
    response_writer writer(prefixes);
    std::string out = "left from before";
    writer.write_head(out, answer, facts);
    // The date is the only thing that changes.
    const std::size_t date = out.find("date: ");
    EXPECT_NE(date, out.npos);
    const std::size_t end = out.find("\r\n", date);
    EXPECT_EQ(end - date, std::string("date: Tue, 15 Nov 1994 08:12:31 GMT").size());
    return out.erase(date, end + 2 - date);
}

TEST(response_writer, writes_one_head) {
    runtime::http::http_response answer;
    answer.body = "12345";
    answer.headers = {{"x-one", "1"}, {"x-two", "2"}};
    EXPECT_EQ(
        written(answer, {"id", "verta-request-id", false, true}),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\nsvc-request-id: id\r\n"
        "verta-request-id: id\r\nx-one: 1\r\nx-two: 2\r\nx-content-type-options: nosniff\r\n"
        "cache-control: no-store\r\nconnection: close\r\n\r\n");
}

TEST(response_writer, writes_heralds_own_headers_under_each_prefix) {
    runtime::http::http_response answer;
    answer.headers = {{"svc-warning", "w"}, {"retry-after", "1"}};
    const std::string head = written(answer, {"id", {}, false, false}, {"Acme-", "other-"});
    EXPECT_NE(head.find("Acme-warning: w\r\nother-warning: w\r\nretry-after: 1\r\n"), head.npos) << head;
    EXPECT_EQ(head.find("svc-"), head.npos) << head;
}

TEST(response_writer, lets_nobody_keep_an_answer_unless_it_says_who_may) {
    runtime::http::http_response answer;
    EXPECT_NE(written(answer, {"id", {}, false, false}).find("\r\ncache-control: no-store\r\n"),
              std::string::npos);
    answer.headers = {{"Cache-Control", "private, no-cache"}};
    const std::string head = written(answer, {"id", {}, false, false});
    EXPECT_NE(head.find("\r\nCache-Control: private, no-cache\r\n"), std::string::npos) << head;
    EXPECT_EQ(head.find("no-store"), std::string::npos) << head;
}

TEST(response_writer, tells_http_1_0_that_the_connection_stays) {
    EXPECT_NE(written({}, {"id", {}, true, false}).find("\r\nconnection: keep-alive\r\n"), std::string::npos);
    EXPECT_EQ(written({}, {"id", {}, false, false}).find("connection"), std::string::npos);
}

TEST(response_writer, writes_no_length_where_there_is_no_body) {
    for (const int status : {100, 204, 304}) {
        runtime::http::http_response answer;
        answer.status = static_cast<std::uint16_t>(status);
        const std::string head = written(answer, {"id", {}, false, false});
        EXPECT_EQ(head.find("\r\ncontent-"), std::string::npos) << head;
    }
}

TEST(response_writer, lets_no_value_start_a_new_line) {
    runtime::http::http_response answer;
    answer.headers = {{"location", "/a\r\nset-cookie: stolen\n\0\x7f"}};
    answer.content_type = "text/plain\r\nx: y";
    const std::string head = written(answer, {"id", {}, false, false});
    EXPECT_EQ(head.find("\r\nset-cookie"), std::string::npos) << head;
    EXPECT_EQ(head.find("\r\nx:"), std::string::npos) << head;
    EXPECT_NE(head.find("location: /a  set-cookie: stolen "), std::string::npos) << head;
}

TEST(response_writer, knows_statuses_without_a_text) {
    runtime::http::http_response answer;
    answer.status = 299;
    EXPECT_TRUE(written(answer, {"id", {}, false, false}).starts_with("HTTP/1.1 299 \r\n"));
}

TEST(response_writer, sends_the_id_under_each_prefix) {
    const std::string head = written({}, {"id", {}, false, false}, {"Svc-", "verta-"});
    EXPECT_NE(head.find("\r\nsvc-request-id: id\r\n"), std::string::npos);
    EXPECT_NE(head.find("\r\nverta-request-id: id\r\n"), std::string::npos);
}

}  // namespace
}  // namespace herald::test
