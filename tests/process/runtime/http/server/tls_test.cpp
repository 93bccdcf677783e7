// Protects what is sent over TLS: the same service behind it, nothing older than TLS 1.2, and no plain text.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "tests/process/runtime/http/server/streams.hpp"
#include "tests/process/runtime/http/server/tls_client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

TEST(tls, serves_requests_and_says_where_they_end) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    ASSERT_TRUE(caller.shakes_hands());
    bool clean = false;
    const std::string all =
        caller.exchange(get("/echo") + get("/large") + get("/now", "Connection: close\r\n"), clean);
    EXPECT_EQ(answers_in(all), 3u);
    EXPECT_GT(all.size(), echo::large_body);
    EXPECT_TRUE(all.ends_with("\r\n\r\nnow"));
    EXPECT_TRUE(clean);
}

TEST(tls, older_than_1_2_is_refused) {
    const certificate_files files;
    running_server server(with_tls(files));
    EXPECT_TRUE(tls_client(server.get().port(), files, TLS1_2_VERSION).shakes_hands());
    EXPECT_FALSE(tls_client(server.get().port(), files, TLS1_1_VERSION).shakes_hands());
}

TEST(tls, answers_no_plain_request) {
    const certificate_files files;
    running_server server(with_tls(files));
    const std::string all = server.exchange(get("/now"));
    EXPECT_EQ(all.find("HTTP/1.1 200"), std::string::npos);
    EXPECT_EQ(server.handler.handled, 0);
}

TEST(tls, handshake_has_a_deadline) {
    const certificate_files files;
    server_options options = with_tls(files);
    options.bounds.header_ms = 100;
    running_server server(options);
    client silent = server.connect();
    EXPECT_TRUE(silent.is_closed());
}

TEST(tls, files_that_cannot_be_used_are_named) {
    const certificate_files files;
    runtime::event_loops loops({.loops = 1});
    echo handler;
    server_options options = with_tls(files);
    options.tls_certificate_file = "/nowhere/certificate.pem";
    const auto made = make_server(options, handler, loops);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("/nowhere/certificate.pem"), std::string::npos);
}

TEST(tls, carries_streams_in_both_directions) {
    const certificate_files files;
    stream_server server(with_tls(files));
    server.handler.bytes = 20'000'000;
    tls_client caller(server.get().port(), files);
    ASSERT_TRUE(caller.shakes_hands());
    bool clean = false;
    const std::string sent(5'000'000, 's');
    const std::string all =
        caller.exchange(post("/count", "Content-Length: 5000000\r\n", sent) +
                            post("/count", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") +
                            get("/sized") + get("/chunked", "Connection: close\r\n"),
                        clean);
    EXPECT_NE(all.find("\r\n\r\n/count 5000000HTTP/1.1"), all.npos);
    EXPECT_NE(all.find("\r\n\r\n/count 3HTTP/1.1"), all.npos);
    EXPECT_EQ(answers_in(all), 4u);
    EXPECT_EQ(std::count(all.begin(), all.end(), '~'), 2 * 20'000'000);
    EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
    EXPECT_TRUE(clean);
}

TEST(tls, shows_that_a_streamed_answer_is_cut) {
    const certificate_files files;
    stream_server server(with_tls(files));
    for (const char* path : {"/fails", "/short"}) {
        tls_client caller(server.get().port(), files);
        ASSERT_TRUE(caller.shakes_hands());
        bool clean = true;
        const std::string all = caller.exchange(get(path), clean);
        EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << path;
        EXPECT_FALSE(clean) << path;
    }
}

TEST(tls, drains_connections_whose_handshake_comes_late) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    tls_client other(server.get().port(), files);  // shows that the server has accepted the first
    ASSERT_TRUE(other.shakes_hands());
    auto drained = std::async(std::launch::async, [&] { return server.get().drain(10'000); });
    EXPECT_FALSE(drained.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready);
    ASSERT_TRUE(caller.shakes_hands());
    EXPECT_TRUE(drained.get());
}

TEST(tls, drains_idle_connections) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    ASSERT_TRUE(caller.shakes_hands());
    EXPECT_TRUE(server.get().drain(10'000));
}

}  // namespace
}  // namespace herald::test
