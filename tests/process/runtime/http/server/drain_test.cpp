// Protects a restart: requests in flight are answered, no new ones are accepted, and the end comes in time.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "tests/process/runtime/http/server/client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

std::future<bool> drain(running_server& server, std::int64_t ms = 10'000) {
    return std::async(std::launch::async, [&server, ms] { return server.get().drain(ms); });
}

bool can_connect(const running_server& server) {
    try {
        server.connect();
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

TEST(drain, answers_what_is_in_flight_and_then_closes) {
    running_server server;
    client caller = server.connect();
    caller.send(get("/waits"));
    ASSERT_TRUE(eventually([&] { return server.handler.waiting == 1; }));
    auto drained = drain(server);
    ASSERT_TRUE(eventually([&] { return !can_connect(server); }));
    EXPECT_FALSE(caller.hears_within(20));
    server.handler.let_go = true;
    const answer got = caller.receive();
    EXPECT_EQ(got.body, "waited");
    EXPECT_TRUE(got.closes());
    EXPECT_TRUE(caller.is_closed());
    EXPECT_TRUE(drained.get());
}

TEST(drain, closes_idle_connections_at_once) {
    running_server server;
    client used = server.connect();
    EXPECT_EQ(used.ask(get("/now")).body, "now");
    client unused = server.connect();
    EXPECT_TRUE(server.get().drain(10'000));
    EXPECT_TRUE(used.is_closed());
    EXPECT_TRUE(unused.is_closed());
}

TEST(drain, lets_a_request_that_has_begun_come_to_its_end) {
    running_server server;
    client caller = server.connect();
    const std::string whole = get("/now");
    client other = server.connect();  // shows that the server has read what came before
    caller.send(whole.substr(0, 20));
    EXPECT_EQ(other.ask(get("/now")).body, "now");
    auto drained = drain(server);
    ASSERT_TRUE(eventually([&] { return !can_connect(server); }));
    const answer got = caller.ask(whole.substr(20));
    EXPECT_EQ(got.body, "now");
    EXPECT_TRUE(got.closes());
    caller.finish();
    EXPECT_TRUE(drained.get());
}

TEST(drain, serves_those_who_had_connected_before) {
    running_server server({}, 2);
    std::vector<client> callers;
    for (int i = 0; i < 20; ++i) {
        callers.push_back(server.connect());
        callers.back().send(get("/now"));
    }
    EXPECT_TRUE(server.get().drain(10'000));
    for (client& caller : callers) EXPECT_EQ(caller.receive().body, "now");
}

TEST(drain, says_when_its_time_is_over) {
    running_server server;
    client caller = server.connect();
    caller.send(get("/waits"));
    ASSERT_TRUE(eventually([&] { return server.handler.waiting == 1; }));
    EXPECT_FALSE(server.get().drain(50));
}

TEST(stop, ends_what_is_in_flight) {
    running_server server;
    client caller = server.connect();
    caller.send(get("/waits"));
    ASSERT_TRUE(eventually([&] { return server.handler.waiting == 1; }));
    ::testing::internal::CaptureStderr();
    server.get().stop();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "it is no failure";
    EXPECT_EQ(caller.receive_all(), "");
}

TEST(server, listens_from_the_moment_it_is_made_and_uses_every_loop) {
    running_server server({}, 2);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(server.connect().ask(get("/now")).body, "now");
}

TEST(server, refuses_a_port_that_another_server_has) {
    for (const std::size_t loops : {1u, 2u}) {
        running_server first({}, loops);
        runtime::event_loops others({.loops = loops});
        echo handler;
        server_options options;
        options.port = first.get().port();
        const auto second = make_server(options, handler, others);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, error_code::unavailable);
    }
}

TEST(server, can_listen_again_right_after_another_has_stopped) {
    server_options options;
    {
        running_server first;
        client caller = first.connect();
        EXPECT_EQ(caller.ask(get("/now", "Connection: close\r\n")).body, "now");
        options.port = first.get().port();
    }
    running_server second(options);
    EXPECT_EQ(second.connect().ask(get("/now")).body, "now");
}

TEST(server, says_what_is_wrong_with_an_address) {
    runtime::event_loops loops({.loops = 1});
    echo handler;
    server_options options;
    options.address = "localhost";
    const auto made = make_server(options, handler, loops);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("localhost is not an IPv4 or IPv6 address"), std::string::npos);
}

}  // namespace
}  // namespace herald::test
