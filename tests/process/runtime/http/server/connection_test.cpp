// Protects what a client relies on besides the answer itself: order, the connection's end, HEAD, 100
// Continue, and the id by which a request can be found (wire.md §1, §6).
#include <gtest/gtest.h>

#include <string>

#include "tests/process/runtime/http/server/client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

bool is_uuid(const std::string& text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-'
                 : std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos)
            return false;
    }
    return true;
}

TEST(connection, serves_request_after_request) {
    running_server server;
    client caller = server.connect();
    for (int i = 0; i < 100; ++i) {
        const answer got = caller.ask(get(i % 2 == 0 ? "/now" : "/echo?n=" + std::to_string(i)));
        EXPECT_EQ(got.status, 200);
        EXPECT_TRUE(got.headers("connection").empty());
    }
}

TEST(connection, answers_pipelined_requests_in_their_order) {
    running_server server;
    client caller = server.connect();
    std::string all;
    for (int i = 0; i < 500; ++i) all += get("/echo?n=" + std::to_string(i)) + get("/now");
    caller.send(all);
    for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(caller.receive().body.starts_with("GET /echo?n=" + std::to_string(i) + "\n"));
        EXPECT_EQ(caller.receive().body, "now");
    }
}

TEST(connection, works_on_one_request_at_a_time) {
    running_server server;
    client caller = server.connect();
    caller.send(get("/waits") + get("/waits"));
    ASSERT_TRUE(eventually([&] { return server.handler.waiting == 1; }));
    EXPECT_FALSE(caller.hears_within(50));
    EXPECT_EQ(server.handler.waiting, 1);
    server.handler.let_go = true;
    EXPECT_EQ(caller.receive().body, "waited");
    EXPECT_EQ(caller.receive().body, "waited");
    EXPECT_EQ(server.handler.waiting, 2);
}

TEST(connection, that_waits_holds_up_no_other) {
    running_server server;
    client slow = server.connect();
    slow.send(get("/waits"));
    ASSERT_TRUE(eventually([&] { return server.handler.waiting == 1; }));
    EXPECT_EQ(server.connect().ask(get("/now")).body, "now");
    server.handler.let_go = true;
    EXPECT_EQ(slow.receive().body, "waited");
}

TEST(connection, closes_when_asked_to) {
    running_server server;
    client caller = server.connect();
    const answer got = caller.ask(get("/now", "Connection: close\r\n"));
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.closes());
    EXPECT_TRUE(caller.is_closed());
}

TEST(connection, of_http_1_0_closes_unless_asked_to_stay) {
    running_server server;
    client once = server.connect();
    EXPECT_TRUE(once.ask("GET /now HTTP/1.0\r\n\r\n").closes());
    EXPECT_TRUE(once.is_closed());

    client stays = server.connect();
    for (int i = 0; i < 3; ++i) {
        const answer got = stays.ask("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        EXPECT_EQ(got.status, 200);
        EXPECT_EQ(got.header("connection"), "keep-alive");
    }
}

TEST(connection, answers_a_client_that_has_finished_sending) {
    running_server server;
    client caller = server.connect();
    caller.send(get("/echo"));
    caller.finish();
    EXPECT_EQ(caller.receive().status, 200);
    EXPECT_TRUE(caller.is_closed());
}

TEST(connection, that_ends_inside_a_request_leaves_the_server_well) {
    running_server server;
    const std::string whole = "POST /echo HTTP/1.1\r\nHost: herald\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_EQ(server.exchange(whole.substr(0, length)), "") << length;
    EXPECT_EQ(server.handler.handled, 0);
    EXPECT_EQ(server.connect().ask(get("/now")).body, "now");
}

TEST(head, is_answered_like_get_without_the_body) {
    running_server server;
    client caller = server.connect();
    caller.send("HEAD /now HTTP/1.1\r\nHost: herald\r\n\r\n" + get("/now"));
    const answer head = caller.receive("HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("content-length"), "3");
    EXPECT_EQ(caller.receive().body, "now");
}

TEST(head, of_an_error_has_no_body_either) {
    running_server server;
    const std::string all =
        server.exchange("HEAD /now HTTP/1.1\r\nHost: herald\r\nTransfer-Encoding: gzip\r\n\r\n");
    EXPECT_TRUE(all.starts_with("HTTP/1.1 400 ")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\n")) << all;
}

TEST(answer, of_204_has_no_length_and_no_body) {
    running_server server;
    client caller = server.connect();
    const answer got = caller.ask(get("/empty"));
    EXPECT_EQ(got.status, 204);
    EXPECT_TRUE(got.headers("content-length").empty());
    EXPECT_EQ(caller.ask(get("/now")).body, "now");
}

TEST(answer, has_the_time_and_type) {
    running_server server;
    const answer got = server.connect().ask(get("/now"));
    EXPECT_EQ(got.header("content-type"), "application/json");
    EXPECT_TRUE(got.header("date").ends_with(" GMT"));
}

TEST(answer, larger_than_any_buffer_arrives_whole) {
    running_server server;
    client caller = server.connect();
    const answer got = caller.ask(get("/large"));
    EXPECT_EQ(got.body, std::string(echo::large_body, 'x'));
    EXPECT_EQ(caller.ask(get("/now")).body, "now");
}

TEST(handler, that_throws_gives_500_and_the_connection_goes_on) {
    running_server server;
    client caller = server.connect();
    const answer got = caller.ask(get("/throws"));
    EXPECT_EQ(got.status, 500);
    EXPECT_NE(got.body.find("\"code\":13"), std::string::npos);
    EXPECT_EQ(got.body.find("meant to be thrown"), std::string::npos) << "the reason is for the log only";
    EXPECT_EQ(caller.ask(get("/now")).body, "now");
}

TEST(handler, sees_the_head_of_each_request_once_however_it_comes_and_ends) {
    const std::string post = "POST /upload HTTP/1.1\r\nHost: herald\r\nContent-Length: ";
    const std::string part(20'000, 'x');  // more than the first buffer holds
    int heads = 0;
    running_server server;
    const auto answers = [&](std::string_view first, std::string_view rest, int status) {
        client caller = server.connect();
        caller.send(first);
        EXPECT_TRUE(eventually([&] { return server.handler.begun == heads + 1; })) << first;
        if (!rest.empty()) caller.send(rest);
        EXPECT_EQ(caller.receive().status, status) << first;
        EXPECT_EQ(server.handler.begun, ++heads) << first;
    };
    answers(get("/now"), "", 200);
    answers(get("/echo"), "", 200);
    answers(get("/throws"), "", 500);
    answers(post + "4\r\n\r\nbody", "", 200);
    answers(post + "40000\r\n\r\n" + part, part, 200);
    answers(post + "400000\r\n\r\n", "", 413);
    answers("POST /refused HTTP/1.1\r\nHost: herald\r\nContent-Length: 4\r\n\r\n", "", 401);
    answers("GET /now HTTP/1.1\r\nHost: herald\r\nExpect: nothing\r\n\r\n", "", 417);
}

TEST(handler, that_began_a_request_answers_it_although_another_has_taken_over) {
    running_server server;
    echo next;
    client caller = server.connect();
    caller.send("POST /upload HTTP/1.1\r\nHost: herald\r\nContent-Length: 4\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return server.handler.begun == 1; }));
    server.get().lead_to(next);
    caller.send("body");
    EXPECT_EQ(caller.receive().status, 200);
    EXPECT_EQ(caller.ask(get("/now")).status, 200);
    EXPECT_EQ(server.handler.handled, 1);
    EXPECT_EQ(next.handled, 1);
    EXPECT_EQ(next.begun, 1);
    server.get().stop();
}

TEST(handler, sees_headers_query_and_body_as_they_were_sent) {
    running_server server;
    const answer got = server.connect().ask(
        "POST /echo?a=1&b=%20 HTTP/1.1\r\nHost: herald\r\nX-One:  two words \r\nContent-Length: "
        "3\r\n\r\na\nb");
    EXPECT_EQ(got.body, "POST /echo?a=1&b=%20\nHost=herald\nX-One=two words\nContent-Length=3\na\nb");
}

TEST(continue_100, is_sent_when_the_client_waits_for_it) {
    running_server server;
    client caller = server.connect();
    caller.send("POST /echo HTTP/1.1\r\nHost: herald\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    const answer go_on = caller.receive();
    EXPECT_EQ(go_on.head, "HTTP/1.1 100 Continue\r\n\r\n");
    const answer got = caller.ask("hello");
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.body.ends_with("hello"));
    EXPECT_EQ(caller.ask(get("/now")).body, "now");
}

TEST(continue_100, is_not_sent_when_the_body_came_along) {
    running_server server;
    const answer got = server.connect().ask(
        "POST /echo HTTP/1.1\r\nHost: herald\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
    EXPECT_EQ(got.status, 200);
}

TEST(continue_100, is_not_sent_for_a_body_that_is_too_large) {
    running_server server;
    const answer got = server.connect().ask(
        "POST /echo HTTP/1.1\r\nHost: herald\r\nExpect: 100-continue\r\nContent-Length: 1025\r\n\r\n");
    EXPECT_EQ(got.status, 413);
}

TEST(continue_100, is_not_sent_to_http_1_0) {
    running_server server;
    client caller = server.connect();
    caller.send("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_FALSE(caller.hears_within(50));
    EXPECT_EQ(caller.ask("hello").status, 200);
}

TEST(request_id, is_new_and_a_uuid_where_the_caller_sends_none) {
    running_server server;
    client caller = server.connect();
    const std::string first = caller.ask(get("/now")).header("svc-request-id");
    const std::string second = caller.ask(get("/now")).header("svc-request-id");
    EXPECT_TRUE(is_uuid(first)) << first;
    EXPECT_NE(first, second);
}

TEST(request_id, of_the_caller_is_kept) {
    running_server server;
    const answer got = server.connect().ask(get("/now", "SVC-Request-ID: my-own-7\r\n"));
    EXPECT_EQ(got.header("svc-request-id"), "my-own-7");
}

TEST(request_id, is_echoed_under_the_name_that_the_caller_used) {
    running_server server;
    const answer got = server.connect().ask(get("/now", "verta-request-id: from-a-client\r\n"));
    EXPECT_EQ(got.header("svc-request-id"), "from-a-client");
    EXPECT_EQ(got.header("verta-request-id"), "from-a-client");
}

TEST(request_id, is_kept_up_to_128_bytes_of_visible_ascii) {
    running_server server;
    client caller = server.connect();
    const std::string longest(128, 'i');
    EXPECT_EQ(caller.ask(get("/now", "svc-request-id: " + longest + "\r\n")).header("svc-request-id"),
              longest);
    for (const std::string& bad :
         {std::string(129, 'i'), std::string("two words"), std::string("\xc3\xa4"), std::string()}) {
        const answer got = caller.ask(get("/now", "svc-request-id: " + bad + "\r\n"));
        EXPECT_TRUE(is_uuid(got.header("svc-request-id"))) << bad;
    }
}

TEST(request_id, is_sent_under_each_prefix_that_is_configured) {
    server_options options;
    options.header_prefixes = {"Svc-", "verta-"};
    running_server server(options);
    const answer got = server.connect().ask(get("/now", "Verta-Request-Id: seven\r\n"));
    EXPECT_EQ(got.header("svc-request-id"), "seven");
    EXPECT_EQ(got.header("verta-request-id"), "seven");
}

TEST(request_id, is_on_errors_of_the_parser_too) {
    running_server server;
    const std::string all =
        server.exchange(get("/now", "svc-request-id: find-me\r\nTransfer-Encoding: gzip\r\n"));
    EXPECT_TRUE(all.starts_with("HTTP/1.1 400 ")) << all;
    EXPECT_NE(all.find("\r\nsvc-request-id: find-me\r\n"), std::string::npos) << all;
}

TEST(request_id, of_one_request_is_not_that_of_the_next) {
    running_server server;
    client caller = server.connect();
    EXPECT_EQ(caller.ask(get("/now", "verta-request-id: first\r\n")).header("svc-request-id"), "first");
    caller.send("broken\r\n\r\n");
    const answer got = caller.receive();
    EXPECT_EQ(got.status, 400);
    EXPECT_TRUE(is_uuid(got.header("svc-request-id")));
    EXPECT_TRUE(got.headers("verta-request-id").empty());
}

}  // namespace
}  // namespace herald::test
