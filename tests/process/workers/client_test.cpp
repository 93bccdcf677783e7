// Protects the HTTP client's streamed bodies: bounded memory, nothing read or produced while nobody asks, and
// no end is mistaken for another.
#include "runtime/http/client/client.hpp"
#include "runtime/http/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/process/workers/client_bench.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/receiver.hpp"
#include "tests/support/sanitized.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::client;
using runtime::http::http_method;
using std::chrono::milliseconds;

/// Of a body that does not fit into what either side holds.
constexpr std::uint64_t large = (is_sanitized ? 128ull : 1024ull) * 1024 * 1024;
/// More than both kernels' buffers of a connection on loopback take, less than a large body.
constexpr std::uint64_t buffered_max = 64ull * 1024 * 1024;

/// Gives `bytes` in pieces of at most 64 KiB, and then the result `last`.
class repeating_source final : public body_source {
  public:
    explicit repeating_source(std::uint64_t bytes, std::atomic<std::uint64_t>* given = nullptr)
        : x_left(bytes), x_given(given) {}
    void next(piece_callback call_back) override {
        if (x_left == 0 && fails) return call_back(runtime::unavailable("the disk is gone"));
        if (x_left == 0 && hangs) return;
        const auto bytes = std::min<std::uint64_t>(x_left, x_piece.size());
        x_left -= bytes;
        if (x_given) *x_given += bytes;
        call_back(std::string_view(x_piece).substr(0, bytes));
    }
    bool fails = false;
    bool hangs = false;

  private:
    std::uint64_t x_left;
    std::atomic<std::uint64_t>* x_given;
    const std::string x_piece = std::string(64 * 1024, 'x');
};

class client_bodies : public no_descriptor_leaks {};

/// Reads up to the empty line.
std::string read_head(peer& one) {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
        const std::string byte = one.read_some(1);
        if (byte.empty()) return head;
        head += byte;
    }
    return head;
}

TEST_F(client_bodies, of_answers_may_have_any_length_and_come_in_small_pieces) {
    receiver target([](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(large) + "\r\n\r\n");
        const std::string block(1024 * 1024, 'x');
        for (int i = 0; i < 1024; ++i) one.send(block);
        one.hang();
    });
    client_bench bench;
    ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200);
    std::uint64_t bytes = 0;
    std::size_t largest = 0;
    while (true) {
        const auto piece = bench.read();
        ASSERT_TRUE(piece) << piece.error().message;
        if (piece->empty()) break;
        bytes += piece->size();
        largest = std::max(largest, piece->size());
    }
    EXPECT_EQ(bytes, large);
    EXPECT_LE(largest, 64u * 1024);
    bench.under_way.reset();
}

TEST_F(client_bodies, of_answers_are_not_read_while_nobody_asks) {
    std::atomic<std::uint64_t> sent{0};
    receiver target([&](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(large) + "\r\n\r\n");
        const std::string block(64 * 1024, 'x');
        while (sent < large && one.send(block)) sent += block.size();
    });
    client_bench bench;
    ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200);
    // If it were read after all, 1 GiB would arrive several times over in this time.
    boost::asio::steady_timer busy(bench.io, milliseconds(2'000));
    busy.async_wait([](const boost::system::error_code&) {});
    bench.io.restart();
    bench.io.run_for(milliseconds(2'000));
    EXPECT_LT(sent, buffered_max);
    EXPECT_GT(sent, 0u);
    bench.under_way.reset();
}

TEST_F(client_bodies, that_are_cut_are_not_taken_for_whole) {
    for (const char* head :
         {"Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
          "Transfer-Encoding: chunked\r\n\r\n5\r\n123"}) {
        receiver target([&](peer& one) {
            one.read_request();
            one.send(std::string("HTTP/1.1 200 OK\r\n") + head);
        });
        client_bench bench;
        ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200) << head;
        const auto all = bench.read_all();
        ASSERT_FALSE(all) << head;
        EXPECT_EQ(all.error().code, error_code::unavailable);
    }
}

TEST_F(client_bodies, come_whole_however_they_are_framed) {
    for (const std::string text :
         {"Content-Length: 5\r\n\r\n12345",
          "Transfer-Encoding: chunked\r\n\r\n2\r\n12\r\n3\r\n345\r\n0\r\n\r\n", "\r\n12345"}) {
        receiver target([&](peer& one) {
            one.read_request();
            one.drip("HTTP/1.1 200 OK\r\n" + text, 1);
        });
        client_bench bench;
        ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200) << text;
        const auto all = bench.read_all();
        ASSERT_TRUE(all) << text << all.error().message;
        EXPECT_EQ(*all, "12345");
    }
}

TEST_F(client_bodies, that_are_empty_end_at_once_and_leave_the_connection_usable) {
    receiver target([](peer& one) {
        while (!one.read_request().empty()) one.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    client_bench bench;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200);
        EXPECT_EQ(bench.read().value(), "");
    }
    EXPECT_EQ(target.connections(), 1);
}

TEST_F(client_bodies, of_answers_to_HEAD_are_not_awaited) {
    receiver target([](peer& one) {
        EXPECT_TRUE(one.read_request().starts_with("HEAD /hook HTTP/1.1\r\n"));
        one.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        one.hang();
    });
    client_bench bench;
    request asked = client_bench::to(target, answer_body::collected);
    asked.method = http_method::head;
    const answer got = bench.ask(std::move(asked));
    EXPECT_EQ(got.status, 200) << got.message;
    EXPECT_EQ(got.body, "");
}

TEST_F(client_bodies, that_are_collected_are_cut_at_their_limit) {
    receiver target([](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x'));
    });
    client_bench bench;
    for (const std::size_t limit : {std::size_t{100'000}, std::size_t{200'000}}) {
        request asked = client_bench::to(target, answer_body::collected);
        asked.answer_body_bytes_max = limit;
        const answer got = bench.ask(std::move(asked));
        EXPECT_EQ(got.status, 200) << got.message;
        EXPECT_EQ(got.body.size(), limit);
        EXPECT_EQ(got.body_is_cut, limit < 200'000);
    }
}

TEST_F(client_bodies, are_collected_when_they_are_known_to_be_short_and_else_streamed) {
    const auto ask = [](client_bench& bench, const receiver& target) {
        request asked = client_bench::to(target, answer_body::collected_if_short);
        asked.answer_body_bytes_max = 5;
        return bench.ask(std::move(asked));
    };
    // With a pause after the head.
    for (const auto& [head, body, follows, bytes] :
         std::vector<std::tuple<std::string, std::string, bool, std::optional<std::uint64_t>>>{
             {"Content-Length: 5\r\n\r\n", "12345", false, {}},
             {"Content-Length: 6\r\n\r\n", "123456", true, 6},
             {"Transfer-Encoding: chunked\r\n\r\n", "5\r\n12345\r\n0\r\n\r\n", true, {}},
             {"\r\n", "12345", true, {}}}) {
        receiver target([&](peer& one) {
            one.read_request();
            one.send("HTTP/1.1 200 OK\r\n" + head);
            std::this_thread::sleep_for(milliseconds(50));
            one.send(body);
        });
        client_bench bench;
        const answer got = ask(bench, target);
        EXPECT_EQ(got.status, 200) << got.message;
        EXPECT_EQ(got.body_follows, follows) << head;
        EXPECT_EQ(got.body_bytes, bytes) << head;
        const result<std::string> whole = follows ? bench.read_all() : got.body;
        ASSERT_TRUE(whole) << whole.error().message;
        EXPECT_TRUE(whole->starts_with("12345")) << *whole;
    }
    // With the head, whatever its length says: it is there.
    receiver target([&](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n0\r\n\r\n");
    });
    client_bench bench;
    const answer got = ask(bench, target);
    EXPECT_FALSE(got.body_follows);
    EXPECT_EQ(got.body, "123456");
}

TEST_F(client_bodies, that_stand_still_end_with_the_time_for_a_piece_or_only_at_the_deadline) {
    receiver target([](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
        one.drip("56", 400);
        one.hang();
    });
    for (const bool deadline_ends_it : {false, true}) {
        client_bench bench;
        request asked = client_bench::to(target);
        asked.piece_ms_max = 100;
        asked.deadline_ms = 1'500;
        asked.deadline_ends_body = deadline_ends_it;
        ASSERT_EQ(bench.ask(std::move(asked)).status, 200);
        std::string came;
        auto piece = bench.read();
        for (; piece && !piece->empty(); piece = bench.read()) came += *piece;
        EXPECT_EQ(came, deadline_ends_it ? "123456" : "12345");
        ASSERT_FALSE(piece);
        EXPECT_EQ(piece.error().code, error_code::deadline_exceeded);
    }
}

TEST_F(client_bodies, of_requests_are_sent_as_they_are_made_with_and_without_a_known_length) {
    for (const bool is_known : {true, false}) {
        std::string head;
        std::atomic<std::uint64_t> bytes{0};
        receiver target([&](peer& one) {
            head = read_head(one);
            std::string end;
            while (is_known ? bytes < large : !end.ends_with("\r\n0\r\n\r\n")) {
                const std::string piece = one.read_some(1024 * 1024);
                if (piece.empty()) return;
                bytes += piece.size();
                end += piece;
                if (end.size() > 16) end.erase(0, end.size() - 16);
            }
            one.send(hi);
        });
        client_bench bench;
        request asked = client_bench::to(target, answer_body::collected);
        asked.method = http_method::put;
        asked.body_pieces = std::make_unique<repeating_source>(large);
        if (is_known) asked.body_pieces_bytes = large;
        const answer got = bench.ask(std::move(asked));
        EXPECT_EQ(got.status, 200) << got.message;
        EXPECT_EQ(got.body, "hi");
        EXPECT_EQ(head.find("content-length: " + std::to_string(large) + "\r\n") != std::string::npos,
                  is_known)
            << head;
        EXPECT_EQ(head.find("transfer-encoding: chunked\r\n") != std::string::npos, !is_known) << head;
        EXPECT_GE(bytes, large);
    }
}

TEST_F(client_bodies, of_requests_are_not_made_while_nobody_reads_them) {
    receiver target([](peer& one) { one.ignore(); });
    client_bench bench;
    std::atomic<std::uint64_t> made{0};
    request asked = client_bench::to(target);
    asked.method = http_method::put;
    asked.piece_ms_max = 1'000;
    asked.body_pieces = std::make_unique<repeating_source>(large, &made);
    const answer got = bench.ask(std::move(asked));
    EXPECT_EQ(got.failed, failure::timeout) << got.message;
    EXPECT_LT(made, buffered_max);
    EXPECT_GT(made, 0u);
}

TEST_F(client_bodies, of_requests_that_fail_stand_still_or_have_a_wrong_length_are_never_whole) {
    struct broken {
        bool fails, hangs;
        std::optional<std::uint64_t> bytes;
        failure expected;
    };
    for (const broken& one : {broken{true, false, std::nullopt, failure::request_body},
                              broken{false, true, std::nullopt, failure::timeout},
                              broken{false, false, 1'001, failure::request_body},
                              broken{false, false, 999, failure::request_body}}) {
        std::string seen;
        auto target = std::make_unique<receiver>([&](peer& from) {
            for (std::string piece = from.read_some(4096); !piece.empty(); piece = from.read_some(4096))
                seen += piece;
        });
        client_bench bench;
        request asked = client_bench::to(*target);
        asked.method = http_method::put;
        asked.piece_ms_max = 100;
        auto source = std::make_unique<repeating_source>(1'000);
        source->fails = one.fails;
        source->hangs = one.hangs;
        asked.body_pieces = std::move(source);
        asked.body_pieces_bytes = one.bytes;
        const answer got = bench.ask(std::move(asked));
        EXPECT_EQ(got.failed, one.expected) << got.message;
        EXPECT_FALSE(got.status);
        bench.under_way.reset();
        target.reset();  // its thread has ended
        EXPECT_FALSE(seen.ends_with("0\r\n\r\n"));
    }
}

TEST_F(client_bodies, of_requests_are_sent_no_further_once_the_answer_is_here) {
    receiver target([](peer& one) {
        read_head(one);
        one.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
        one.hang();
    });
    client_bench bench;
    request asked = client_bench::to(target);
    asked.method = http_method::put;
    auto source = std::make_unique<repeating_source>(1'000);
    source->hangs = true;
    asked.body_pieces = std::move(source);
    EXPECT_EQ(bench.ask(std::move(asked)).status, 413);
    EXPECT_EQ(bench.read_all().value(), "no");
}

request asking_before_body(const receiver& target, std::uint64_t bytes, std::atomic<std::uint64_t>& made) {
    request asked = client_bench::to(target, answer_body::collected);
    asked.method = http_method::put;
    asked.asks_before_body = true;
    asked.body_pieces = std::make_unique<repeating_source>(bytes, &made);
    asked.body_pieces_bytes = bytes;
    return asked;
}

TEST_F(client_bodies, of_requests_that_ask_before_are_sent_when_the_other_side_wants_them) {
    std::atomic<std::uint64_t> made{0};
    std::atomic<std::uint64_t> made_before{1};
    std::string head;
    receiver target([&](peer& one) {
        head = read_head(one);
        made_before = made.load();
        one.send("HTTP/1.1 100 Continue\r\n\r\n");
        std::string body;
        while (body.size() < 100'000) body += one.read_some(100'000 - body.size());
        one.send(hi);
    });
    client_bench bench;
    const auto since = std::chrono::steady_clock::now();
    const answer got = bench.ask(asking_before_body(target, 100'000, made));
    EXPECT_EQ(got.status, 200) << got.message;
    EXPECT_NE(head.find("expect: 100-continue\r\n"), std::string::npos) << head;
    EXPECT_EQ(made_before, 0u);
    EXPECT_LT(std::chrono::steady_clock::now() - since, milliseconds(limits::client_continue_ms));
}

TEST_F(client_bodies, of_requests_that_ask_before_are_sent_also_to_who_says_nothing) {
    std::atomic<std::uint64_t> made{0};
    receiver target([&](peer& one) {
        read_head(one);
        std::string body;
        while (body.size() < 100'000) body += one.read_some(100'000 - body.size());
        one.send(hi);
    });
    client_bench bench;
    EXPECT_EQ(bench.ask(asking_before_body(target, 100'000, made)).status, 200);
    EXPECT_EQ(made, 100'000u);
}

TEST_F(client_bodies, of_requests_that_ask_before_are_not_made_when_they_are_refused) {
    std::atomic<std::uint64_t> made{0};
    receiver target([&](peer& one) {
        read_head(one);
        one.send("HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 2\r\n\r\nn");
        // Longer than the client waits for permission: the head of the answer has said that there will be
        // none.
        std::this_thread::sleep_for(milliseconds(limits::client_continue_ms + 300));
        one.send("o");
    });
    client_bench bench;
    const answer got = bench.ask(asking_before_body(target, 100'000, made));
    EXPECT_EQ(got.status, 307) << got.message;
    EXPECT_EQ(got.body, "no");
    EXPECT_EQ(made, 0u);
}

TEST_F(client_bodies, may_be_given_up_at_any_time) {
    receiver target([](peer& one) {
        one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
        one.hang();
    });
    client_bench bench;
    ASSERT_EQ(bench.ask(client_bench::to(target)).status, 200);
    EXPECT_EQ(bench.read().value(), "12345");
    bench.under_way->read([](const auto&) { ADD_FAILURE() << "was given up"; });
    bench.under_way.reset();
    bench.io.restart();
    bench.io.run_for(milliseconds(20));
}

}  // namespace
}  // namespace herald::test
