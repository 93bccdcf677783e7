// Protects bodies that a handler takes or produces piece by piece: any length in little memory, the slower
// side sets the pace, and an incomplete body is never taken for a whole one.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "runtime/http/limits.hpp"
#include "runtime/http/server/parser.hpp"
#include "runtime/text.hpp"
#include "tests/process/runtime/http/server/streams.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

/// True once the whole body has arrived, according to its framing.
bool is_whole(const std::string& wire) {
    const std::size_t end = wire.find("\r\n\r\n");
    if (end == wire.npos) return false;
    const std::string head = wire.substr(0, end);
    if (head.find("transfer-encoding: chunked") != head.npos) return wire.ends_with("\r\n0\r\n\r\n");
    const std::size_t length = head.find("content-length: ");
    return length != head.npos &&
           wire.size() - end - 4 ==
               runtime::parse_decimal(head.substr(length + 16, head.find("\r\n", length) - length - 16));
}

TEST(streamed_request, has_its_id_back_under_its_own_name_although_the_head_has_moved) {
    stream_server server;
    client caller = server.connect();
    const std::string asked =
        post("/count", "Content-Length: 4\r\nverta-request-id: from-a-client\r\n", "body");
    caller.send(get("/sized") + asked);
    caller.receive();
    EXPECT_EQ(caller.receive().header("verta-request-id"), "from-a-client");
}

TEST(streamed_request, of_1_gib_passes_through_64_kib) {
    stream_server server;
    client caller = server.connect();
    caller.send(post("/count", "Content-Length: " + std::to_string(gib) + "\r\n"));
    const std::string block(1024 * 1024, 'x');
    for (std::uint64_t sent = 0; sent < gib; sent += block.size()) caller.send(block);
    EXPECT_EQ(caller.receive().body, "/count " + std::to_string(gib));
    EXPECT_LE(server.handler.largest,
              limits::http_piece_bytes_max + 16 * 1024 + limits::request_header_bytes_max);
    EXPECT_EQ(caller.ask(post("/count", "Content-Length: 3\r\n", "abc")).body, "/count 3")
        << "the connection stays open after a body that was read to its end";
}

TEST(streamed_request, comes_whole_however_it_is_framed_and_cut_into_packets) {
    stream_server server;
    for (const std::string& text :
         {post("/count", "Content-Length: 5\r\n", "12345"), post("/count", "Content-Length: 0\r\n"),
          post("/count", "Transfer-Encoding: chunked\r\n", "2\r\n12\r\n3;a=b\r\n345\r\n0\r\nx: y\r\n\r\n"),
          post("/count", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n")}) {
        client at_once = server.connect();
        client in_bytes = server.connect();
        const std::string expected = text.find("345") == text.npos ? "0" : "5";
        for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE(at_once.ask(text).body.ends_with(expected)) << text;
            for (const char byte : text) in_bytes.send(std::string_view(&byte, 1));
            EXPECT_TRUE(in_bytes.receive().body.ends_with(expected)) << text;
        }
    }
}

TEST(streamed_request, is_not_read_while_the_handler_does_not_ask) {
    stream_server server;
    client caller = server.connect();
    caller.send(post("/held", "Content-Length: " + std::to_string(gib) + "\r\n"));
    ASSERT_TRUE(eventually([&] { return server.handler.begun == 1; }));
    const std::string block(1024 * 1024, 'x');
    std::atomic<std::uint64_t> sent = 0;
    auto sending = std::async(std::launch::async, [&] {
        while (sent < gib) {
            caller.send(block);
            sent += block.size();
        }
    });
    // If it were read after all, all of it would be gone by then.
    EXPECT_EQ(sending.wait_for(std::chrono::seconds(2)), std::future_status::timeout);
    EXPECT_LT(sent, buffered_max);
    server.handler.let_go = true;
    sending.get();
    EXPECT_EQ(caller.receive().body, "/held " + std::to_string(gib));
}

TEST(streamed_request, that_is_not_read_to_its_end_ends_the_connection_after_the_answer) {
    stream_server server;
    client caller = server.connect();
    const answer got = caller.ask(post("/ignored", "Content-Length: 5\r\n", "12345"));
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.closes());
    EXPECT_TRUE(caller.is_closed());
}

TEST(streamed_request, is_refused_by_its_header_alone) {
    stream_server server;
    client caller = server.connect();
    const answer got = caller.ask(post("/refused", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
    EXPECT_EQ(got.status, 401);
    EXPECT_TRUE(got.closes());
    EXPECT_EQ(server.handler.begun, 0);
}

TEST(streamed_request, that_expects_it_is_told_to_continue) {
    stream_server server;
    client caller = server.connect();
    EXPECT_EQ(caller.ask(post("/count", "Content-Length: 5\r\nExpect: 100-continue\r\n")).status, 100);
    EXPECT_EQ(caller.ask("12345").body, "/count 5");
}

TEST(streamed_request, with_wrong_framing_or_too_large_is_an_error_and_the_end) {
    stream_server server;
    for (const auto& [text, status] :
         {std::pair{post("/count", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\nnonsense\r\n"), 400},
          std::pair{
              post("/count", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n1;" + std::string(40'000, 'x')),
              413},
          std::pair{post("/count", "Content-Length: " + std::to_string(3 * gib) + "\r\n"), 413}}) {
        client caller = server.connect();
        const answer got = caller.ask(text);
        EXPECT_EQ(got.status, status) << text.substr(0, 100);
        EXPECT_TRUE(got.closes());
    }
}

TEST(streamed_request, that_stands_still_or_is_cut_is_an_error_for_the_handler) {
    server_options options;
    options.bounds.piece_ms = 100;
    stream_server server(options);
    client slow = server.connect();
    const answer got = slow.ask(post("/count", "Content-Length: 5\r\n", "123"));
    EXPECT_EQ(got.status, 408);
    EXPECT_TRUE(got.closes());
    client leaves = server.connect();
    leaves.send(post("/count", "Content-Length: 5\r\n", "123"));
    leaves.finish();
    EXPECT_TRUE(leaves.is_closed());
}

TEST(streamed_request, that_came_fast_may_not_stand_still_for_it) {
    server_options options;
    options.bounds.piece_ms = 200;
    options.bounds.stream_window_ms = 400;
    stream_server server(options);
    client slow = server.connect();
    slow.send(post("/count", "Content-Length: 3000000\r\n", std::string(2'000'000, 'x')));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1'000 && !slow.hears_within(20); ++i) slow.try_send("x");
    EXPECT_EQ(slow.receive().status, 408);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(streamed_request, that_is_refused_while_it_is_sent_hears_why_at_its_end) {
    server_options options;
    options.bounds.linger_ms = 300;
    stream_server server(options);
    for (const char* path : {"/refused", "/ignored"}) {
        client caller = server.connect();
        caller.send(post(path, "Content-Length: 100000000\r\n"));
        for (int i = 0; i < 20; ++i) {  // longer than linger_ms
            ASSERT_TRUE(caller.try_send(std::string(100'000, 'x'))) << path;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        EXPECT_EQ(caller.receive().status, std::string(path) == "/refused" ? 401 : 200) << path;
        EXPECT_TRUE(caller.is_closed()) << "when nothing more comes";
    }
}

TEST(streamed_request, that_is_refused_is_read_only_so_long) {
    server_options options;
    options.bounds.linger_ms_max = 300;
    stream_server server(options);
    client caller = server.connect();
    caller.send(post("/refused", "Content-Length: 100000000\r\n"));
    EXPECT_TRUE(eventually([&] { return !caller.try_send("x"); }));
}

TEST(streamed_request, has_room_in_the_memory_of_all_bodies_or_is_refused) {
    server_options options;
    options.bounds.unfinished_bodies_bytes = request_parser::streamed_bytes_max;
    stream_server server(options);
    client first = server.connect();
    first.send(post("/held", "Content-Length: 5\r\n", "1234"));
    ASSERT_TRUE(eventually([&] { return server.handler.begun == 1; }));
    {
        client second = server.connect();
        const answer got = second.ask(post("/count", "Content-Length: 5\r\n"));
        EXPECT_EQ(got.status, 503);
        EXPECT_FALSE(got.header("retry-after").empty());
        EXPECT_TRUE(got.closes());
    }
    EXPECT_EQ(server.connect().ask(post("/refused", "Content-Length: 5\r\n")).status, 401)
        << "who may not send a body needs no room for it, and takes none";
    EXPECT_EQ(server.handler.begun, 1);
    server.handler.let_go = true;
    EXPECT_EQ(first.ask("5").body, "/held 5");
    EXPECT_EQ(server.connect().ask(post("/count", "Content-Length: 1\r\n", "1")).body, "/count 1")
        << "the room of a body that was read is free again";
}

TEST(streamed_request, that_comes_during_the_drain_comes_to_its_end) {
    stream_server server;
    client caller = server.connect();
    caller.send(post("/count", "Content-Length: 10\r\n", "12345"));
    ASSERT_TRUE(eventually([&] { return server.handler.begun == 1; }));
    auto drained = std::async(std::launch::async, [&] { return server.get().drain(10'000); });
    EXPECT_EQ(drained.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    const answer got = caller.ask("67890");
    EXPECT_EQ(got.body, "/count 10");
    EXPECT_TRUE(got.closes());
    caller.finish();
    EXPECT_TRUE(drained.get());
}

/// The process's log lines while the server stops.
std::string log_of_stop(stream_server& server) {
    ::testing::internal::CaptureStderr();
    server.get().stop();
    return ::testing::internal::GetCapturedStderr();
}

TEST(stop, in_the_middle_of_a_streamed_request_ends_it_and_is_no_failure) {
    stream_server server;
    client caller = server.connect();
    caller.send(post("/count", "Content-Length: 10\r\n", "12345"));
    ASSERT_TRUE(eventually([&] { return server.handler.begun == 1; }));
    EXPECT_EQ(log_of_stop(server), "");
    EXPECT_EQ(caller.receive_all(), "");
}

TEST(stop, in_the_middle_of_a_streamed_answer_shows_that_it_is_cut_and_is_no_failure) {
    for (const char* path : {"/sized", "/chunked", "/hangs"}) {
        stream_server stopped;
        stopped.handler.bytes = gib;
        client caller = stopped.connect();
        caller.send(get(path));
        ASSERT_TRUE(caller.hears_within(10'000)) << path;
        EXPECT_EQ(log_of_stop(stopped), "") << path;
        const std::string wire = caller.receive_all();
        EXPECT_TRUE(wire.starts_with("HTTP/1.1 200 OK\r\n")) << path;
        EXPECT_FALSE(is_whole(wire)) << path;
    }
}

TEST(streamed_answer, of_any_length_comes_whole) {
    stream_server server;
    for (const char* path : {"/sized", "/chunked", "/sent"}) {
        for (const std::uint64_t bytes : {0ull, 1ull, 100'000ull, 20'000'000ull}) {
            server.handler.bytes = bytes;
            client caller = server.connect();
            caller.send(get(path) + get(path, "Connection: close\r\n"));
            const std::string wire = caller.receive_all();
            EXPECT_EQ(answers_in(wire), 2u);
            EXPECT_EQ(static_cast<std::uint64_t>(std::count(wire.begin(), wire.end(), '~')) / 2, bytes)
                << path;
        }
    }
}

TEST(streamed_answer, is_not_made_while_the_client_does_not_read) {
    for (const char* path : {"/sized", "/sent"}) {
        stream_server server;
        server.handler.bytes = gib;
        client caller = server.connect();
        caller.send(get(path));
        ASSERT_TRUE(eventually([&] { return server.handler.made > 0; }));
        // It stops when the kernel's buffers are full: the same number for a while, and far from the end.
        std::uint64_t before = 0;
        ASSERT_TRUE(eventually([&] {
            const bool rests = before == server.handler.made;
            before = server.handler.made;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            return rests;
        }));
        EXPECT_LT(server.handler.made, buffered_max) << path;
    }
}

TEST(streamed_answer, that_is_read_too_slowly_is_cut) {
    for (const char* path : {"/sized", "/sent"}) {
        server_options options;
        options.bounds.stream_window_ms = 400;
        stream_server server(options);
        server.handler.bytes = gib;
        client caller = server.connect();
        caller.read_slowly();
        caller.send(get(path));
        ASSERT_TRUE(caller.hears_within(10'000)) << path;
        EXPECT_TRUE(eventually([&] { return !caller.try_send("x"); })) << path;
        EXPECT_LT(server.handler.made, buffered_max) << path;
    }
}

TEST(streamed_answer, is_not_cut_while_it_is_read_a_little_faster_than_it_must) {
    for (const char* path : {"/sized", "/sent"}) {
        server_options options;
        options.bounds.stream_bytes_per_second = 256 * 1024;
        options.bounds.stream_window_ms = options.bounds.write_ms_base = 2'000;
        stream_server server(options);
        server.handler.bytes = 12 * 1024 * 1024;
        client caller = server.connect();
        caller.read_slowly(64 * 1024);
        caller.send(get(path));
        std::string got;
        for (int i = 0; i < 100; ++i) {  // 512 KiB a second
            got += caller.receive_bytes(32 * 1024);
            std::this_thread::sleep_for(std::chrono::microseconds(62'500));
        }
        while (got.size() < server.handler.bytes) {
            const std::string more = caller.receive_bytes(64 * 1024);
            if (more.empty()) break;
            got += more;
        }
        EXPECT_GE(got.size(), server.handler.bytes) << path;
    }
}

TEST(streamed_answer, whose_client_leaves_ends_and_is_no_failure) {
    ::testing::internal::CaptureStderr();
    {
        stream_server server({}, request_log::on);
        server.handler.bytes = gib;
        for (const char* path : {"/sized", "/sent"}) {
            client caller = server.connect();
            caller.send(get(path));
            ASSERT_TRUE(caller.hears_within(10'000)) << path;
        }
        EXPECT_TRUE(server.get().drain(10'000));
    }
    const std::string lines = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(lines.find("request_failed"), lines.npos) << lines;
}

TEST(streamed_answer, that_fails_in_the_middle_is_logged_and_counted_as_a_failure) {
    ::testing::internal::CaptureStderr();
    {
        stream_server server({}, request_log::on);
        client caller = server.connect();
        caller.send(get("/fails"));
        caller.receive_all();
        server.get().stop();
    }
    const std::string lines = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(lines.find("\"status\":500"), lines.npos) << lines;
}

TEST(streamed_answer, that_goes_wrong_in_the_middle_is_seen_to_be_cut) {
    stream_server server;
    for (const char* path : {"/fails", "/short", "/long", "/sent_fails"}) {
        client caller = server.connect();
        caller.send(get(path));
        const std::string wire = caller.receive_all();
        EXPECT_TRUE(wire.starts_with("HTTP/1.1 200 OK\r\n")) << path;
        EXPECT_FALSE(is_whole(wire)) << path;
    }
    client caller = server.connect();
    caller.send(get("/sized", "Connection: close\r\n"));
    EXPECT_TRUE(is_whole(caller.receive_all())) << "what is not cut";
}

TEST(streamed_answer, to_HEAD_is_its_head) {
    stream_server server;
    client caller = server.connect();
    for (int i = 0; i < 2; ++i) {
        caller.send("HEAD /sized HTTP/1.1\r\nHost: a\r\n\r\n");
        const answer got = caller.receive("HEAD");
        EXPECT_EQ(got.status, 200);
        EXPECT_EQ(got.header("content-length"), "100000");
    }
    EXPECT_EQ(server.handler.made, 0u);
}

TEST(streamed_answer, to_HTTP_1_0_ends_with_the_connection) {
    stream_server server;
    client caller = server.connect();
    caller.send("GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const std::string wire = caller.receive_all();
    EXPECT_EQ(wire.find("transfer-encoding"), wire.npos);
    EXPECT_TRUE(wire.ends_with("\r\n\r\n" + std::string(100'000, '~')));
}

void on_loop(stream_server& server, const std::function<void()>& what) {
    std::promise<void> done;
    server.loop().post([&] {
        what();
        done.set_value();
    });
    done.get_future().get();
}

TEST(events, come_with_id_type_and_lines_and_end_with_the_drain) {
    stream_server server;
    client caller = server.connect();
    caller.send(get("/events"));
    ASSERT_TRUE(eventually([&] { return server.handler.has_events.load(); }));
    on_loop(server, [&] {
        EXPECT_TRUE(server.handler.events.lock()->send({"7", "changed", "a\nb\r\nc"}));
        EXPECT_TRUE(server.handler.events.lock()->send({"", "", "x\n\nid: 8"}));
    });
    EXPECT_TRUE(server.get().drain(10'000));
    const std::string wire = caller.receive_all();
    EXPECT_NE(wire.find("content-type: text/event-stream\r\n"), wire.npos);
    EXPECT_NE(wire.find("id: 7\nevent: changed\ndata: a\ndata: b\ndata: c\n\n"), wire.npos) << wire;
    EXPECT_NE(wire.find("data: x\ndata: \ndata: id: 8\n\n"), wire.npos) << wire;
    EXPECT_TRUE(is_whole(wire)) << wire;
}

TEST(events, that_do_not_come_are_replaced_by_comments) {
    stream_server server;
    server.handler.event_options.heartbeat_ms = 20;
    client caller = server.connect();
    caller.send(get("/events"));
    caller.receive();  // the head
    for (const std::string expected : {"3\r\n:\n\n", "\r\n3\r\n:\n\n", "\r\n3\r\n:\n\n"})
        EXPECT_EQ(caller.receive_bytes(expected.size()), expected);
}

TEST(events, end_with_a_client_that_left_though_none_is_sent) {
    stream_server server;
    server.handler.event_options.heartbeat_ms = 20;
    {
        client caller = server.connect();
        caller.send(get("/events"));
        ASSERT_TRUE(eventually([&] { return server.handler.has_events.load(); }));
    }
    EXPECT_TRUE(eventually([&] {
        bool is_gone = false;
        on_loop(server, [&] { is_gone = server.handler.events.expired(); });
        return is_gone;
    }));
}

TEST(events, end_with_a_client_that_stops_reading) {
    server_options options;
    options.bounds.write_ms_base = 200;
    stream_server server(options);
    client caller = server.connect();
    caller.read_slowly();
    caller.send(get("/events"));
    ASSERT_TRUE(eventually([&] { return server.handler.has_events.load(); }));
    const std::string text(64 * 1024, 'x');
    std::uint64_t taken = 0;
    EXPECT_TRUE(eventually([&] {
        bool is_gone = false;
        on_loop(server, [&] {
            const auto events = server.handler.events.lock();
            is_gone = !events;
            if (events && events->send({"", "", text})) taken += text.size();
        });
        return is_gone;
    }));
    EXPECT_LT(taken, buffered_max);
    EXPECT_GT(taken, 0u);
}

}  // namespace
}  // namespace herald::test
