// Protects P4 and the process itself: whatever a receiver does (delivery.md §7), its delivery ends within the
// deadline with the right class, stays within the limits, and leaves nothing open.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "runtime/http/limits.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using workers::delivery_answer;

constexpr std::int64_t short_deadline_ms = 400;
const std::string ok = "HTTP/1.1 200 OK\r\n";
const std::string ok_hi = ok + "Content-Length: 2\r\n\r\nhi";

class hostile_receivers : public no_descriptor_leaks {
  protected:
    static delivery_answer deliver_to(receiver::script script, std::int64_t deadline_ms = 5'000) {
        receiver hostile(std::move(script));
        delivery_bench bench;
        auto request = delivery_bench::request_to(hostile.location());
        request.deadline_ms = deadline_ms;
        const auto started = steady_clock::now();
        const delivery_answer answer = bench.deliver(std::move(request));
        EXPECT_LT(steady_clock::now() - started, milliseconds(deadline_ms) + delivery_bench::slack);
        EXPECT_LE(answer.body.size(), limits::answer_body_bytes_max);
        EXPECT_EQ(answer.message.empty(), answer.error == delivery_error::none);
        return answer;
    }

    /// The receiver would continue for ever: only the deadline ends it.
    static void expect_timeout(receiver::script script) {
        const auto started = steady_clock::now();
        const delivery_answer answer = deliver_to(std::move(script), short_deadline_ms);
        EXPECT_EQ(answer.error, delivery_error::timeout) << answer.message;
        EXPECT_FALSE(answer.status);
        EXPECT_GE(steady_clock::now() - started, milliseconds(short_deadline_ms - 1));
    }

    static receiver::script answering(std::string text) {
        return [text = std::move(text)](peer& one) {
            one.read_request();
            one.send(text);
            one.hang();
        };
    }
};

TEST_F(hostile_receivers, a_good_receiver_is_done) {
    std::string seen;
    const delivery_answer answer = deliver_to([&](peer& one) {
        seen = one.read_request();
        one.send("HTTP/1.1 201 Created\r\nX-Answer: yes\r\nContent-Length: 2\r\n\r\nhi");
        one.hang();
    });
    EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.body, "hi");
    ASSERT_EQ(answer.headers.size(), 2u);
    EXPECT_EQ(answer.headers[0].name, "X-Answer");
    EXPECT_TRUE(seen.starts_with("POST /hook HTTP/1.1\r\nhost: 127.0.0.1:")) << seen;
    EXPECT_TRUE(seen.ends_with("\r\ncontent-length: 17\r\n\r\n{\"hello\":\"world\"}")) << seen;
    EXPECT_NE(seen.find("\r\nwebhook-id: msg_1\r\n"), std::string::npos);
    EXPECT_EQ(seen.find("accept-encoding"), std::string::npos);
    EXPECT_TRUE(answer.address.starts_with("127.0.0.1:"));
    EXPECT_GT(answer.times.connect_us, 0u);
    EXPECT_GT(answer.times.first_byte_us, 0u);
    EXPECT_GE(answer.times.total_us, answer.times.connect_us + answer.times.first_byte_us);
    EXPECT_EQ(answer.times.tls_us, 0u);
}

TEST_F(hostile_receivers, that_hang_are_ended_by_the_deadline) {
    expect_timeout([](peer& one) { one.hang(); });
    expect_timeout([](peer& one) {
        one.read_request();
        one.hang();
    });
    expect_timeout(answering("HTTP/1.1 20"));
    expect_timeout(answering(ok + "Content-Length: 10\r\n\r\nhi"));
    expect_timeout(answering(ok + "\r\nno length, and not closed"));
    expect_timeout(answering(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"));
    expect_timeout(answering("HTTP/1.1 100 Continue\r\n\r\n"));
}

TEST_F(hostile_receivers, that_drip_their_answer_are_ended_by_the_deadline) {
    expect_timeout([](peer& one) {
        one.read_request();
        one.drip(ok + std::string(1'000, 'x'), 20);
    });
    expect_timeout([](peer& one) {
        one.read_request();
        one.send(ok + "Content-Length: 1000\r\n\r\n");
        one.drip(std::string(1'000, 'x'), 20);
    });
    expect_timeout([](peer& one) {
        one.read_request();
        while (one.send("HTTP/1.1 100 Continue\r\n\r\n") && one.drip("HTTP/1.1 102 Processing\r\n\r\n", 20)) {
        }
    });
}

TEST_F(hostile_receivers, that_never_stop_reading_out_their_answer_are_cut) {
    const std::string block(4096, 'x');
    const auto endless = [](const std::string& start, const std::string& again) {
        return [=](peer& one) {
            one.read_request();
            one.send(start);
            while (one.send(again)) {
            }
        };
    };
    for (const auto& script :
         {endless(ok + "\r\n", block), endless(ok + "Content-Length: 99999999999\r\n\r\n", block),
          endless(ok + "Transfer-Encoding: chunked\r\n\r\n", "1000\r\n" + block + "\r\n")}) {
        const delivery_answer answer = deliver_to(script);
        EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
        EXPECT_EQ(answer.status, 200);
        EXPECT_TRUE(answer.body == std::string(limits::answer_body_bytes_max, 'x'));
    }
    for (const auto& script :
         {endless(ok, "X-Again: and again\r\n"), endless(ok + "X: ", block), endless("HTTP/1.1 200 ", block),
          endless("", "HTTP/1.1 100 Continue\r\n\r\n"), endless("", block)}) {
        const delivery_answer answer = deliver_to(script);
        EXPECT_EQ(answer.error, delivery_error::protocol) << answer.message;
        EXPECT_FALSE(answer.status);
    }
}

TEST_F(hostile_receivers, with_a_hundred_thousand_headers_are_a_protocol_error) {
    std::string text = ok;
    for (int i = 0; i < 100'000; ++i) text += "X-" + std::to_string(i) + ": y\r\n";
    const delivery_answer answer = deliver_to(answering(text + "Content-Length: 0\r\n\r\n"));
    EXPECT_EQ(answer.error, delivery_error::protocol);
    EXPECT_NE(answer.message.find("16 KiB"), std::string::npos) << answer.message;
}

TEST_F(hostile_receivers, with_bombs_in_their_chunks_end_with_the_status_or_as_a_protocol_error) {
    const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
    std::string crumbs = chunked;
    for (int i = 0; i < 50'000; ++i) crumbs += "1\r\nx\r\n";
    for (const std::string& text :
         {crumbs, chunked + "1;" + std::string(500'000, 'x'), chunked + "0\r\n" + std::string(500'000, 'x'),
          chunked + "FFFFFFFFFFFFFFFF\r\n" + std::string(100'000, 'x')}) {
        EXPECT_EQ(deliver_to(answering(text)).error, delivery_error::none) << text.substr(0, 60);
    }
    for (const std::string& text :
         {chunked + "FFFFFFFFFFFFFFFFF\r\nxxxx", chunked + "-1\r\nxxxx", chunked + "zz\r\nxx"}) {
        EXPECT_EQ(deliver_to(answering(text)).error, delivery_error::protocol) << text.substr(0, 60);
    }
    // Three bytes, then one: Beast's parser asserts that this does not happen.
    const delivery_answer last_chunk = deliver_to([&](peer& one) {
        one.read_request();
        one.send(chunked);
        one.drip("0\r\n\r\n", 20);
        one.hang();
    });
    EXPECT_EQ(last_chunk.error, delivery_error::none) << last_chunk.message;
}

TEST_F(hostile_receivers, with_a_gzip_bomb_get_it_back_as_they_sent_it) {
    const std::string bomb = "\x1f\x8b\x08" + std::string(1'000, '\x42');
    const delivery_answer answer =
        deliver_to(answering(ok + "Content-Encoding: gzip\r\nContent-Length: 1003\r\n\r\n" + bomb));
    EXPECT_EQ(answer.error, delivery_error::none);
    EXPECT_EQ(answer.body, bomb);
}

TEST_F(hostile_receivers, that_redirect_are_not_followed) {
    receiver trap([](peer& one) { one.read_request(); });
    for (const std::string& target : {std::string("http://169.254.169.254/latest/meta-data/"),
                                      trap.location(), std::string("http://127.0.0.1/")}) {
        for (const int status : {301, 302, 303, 307, 308}) {
            const delivery_answer answer =
                deliver_to(answering("HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " + target +
                                     "\r\nContent-Length: 0\r\n\r\n"));
            EXPECT_EQ(answer.error, delivery_error::status);
            EXPECT_EQ(answer.status, status);
        }
    }
    EXPECT_EQ(trap.connections(), 0);
}

TEST_F(hostile_receivers, that_lie_about_their_length_are_found_out) {
    const delivery_answer too_short = deliver_to([](peer& one) {
        one.read_request();
        one.send(ok + "Content-Length: 10\r\n\r\nhi");
    });
    EXPECT_EQ(too_short.error, delivery_error::protocol) << too_short.message;
    const delivery_answer too_long = deliver_to(answering(ok_hi + " and more"));
    EXPECT_EQ(too_long.error, delivery_error::none);
    EXPECT_EQ(too_long.body, "hi");
    EXPECT_EQ(deliver_to(answering(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi")).error,
              delivery_error::protocol);
}

TEST_F(hostile_receivers, that_do_not_speak_http_are_a_protocol_error) {
    for (const std::string& text :
         {std::string("<html>hello</html>"), std::string("HTTP/0.9 200 OK\r\n\r\nhello"),
          std::string("220 mail ready\r\n"), std::string(100, '\0')}) {
        const delivery_answer answer = deliver_to([&](peer& one) {
            one.read_request();
            one.send(text);
        });
        EXPECT_EQ(answer.error, delivery_error::protocol) << text << ": " << answer.message;
    }
}

TEST_F(hostile_receivers, that_close_early_are_a_failure_and_after_the_answer_are_not) {
    const auto close_after = [](const std::string& text) {
        return [=](peer& one) {
            one.read_request();
            one.send(text);
            one.half_close();
            one.hang();
        };
    };
    for (const std::string& text :
         {std::string(), std::string("HTTP/1.1 200"), ok, ok + "Content-Length: 2\r\n\r\nh"}) {
        const delivery_answer answer = deliver_to(close_after(text));
        EXPECT_EQ(answer.error, delivery_error::protocol) << text;
        EXPECT_NE(answer.message.find("closed"), std::string::npos) << answer.message;
    }
    EXPECT_EQ(deliver_to(close_after(ok + "\r\nhi")).error, delivery_error::none);
    EXPECT_EQ(deliver_to(close_after(ok_hi)).error, delivery_error::none);
}

TEST_F(hostile_receivers, that_reset_at_any_point_are_a_failure) {
    const std::set allowed{delivery_error::connect, delivery_error::write, delivery_error::protocol};
    const auto reset_after = [&](const std::string& text, std::size_t request_bytes) {
        return [=](peer& one) {
            if (request_bytes == 0) {
                one.read_request();
            } else {
                one.read_some(request_bytes);
            }
            one.send(text);
            one.reset();
        };
    };
    const std::vector<receiver::script> scripts{
        [](peer& one) { one.reset(); },
        reset_after("", 1),
        reset_after("", 0),
        reset_after("HTTP/1.1 2", 0),
        reset_after(ok + "X: y", 0),
        reset_after(ok + "Content-Length: 2\r\n\r\n", 0),
        reset_after(ok + "Content-Length: 2\r\n\r\nh", 0),
        reset_after(ok + "\r\nhi", 0),
        reset_after(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", 0),
    };
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const delivery_answer answer = deliver_to(scripts[i]);
        EXPECT_TRUE(allowed.contains(answer.error)) << i << ": " << answer.message;
        EXPECT_FALSE(answer.status) << i;
    }
}

TEST_F(hostile_receivers, that_answer_before_they_have_read_the_body_are_heard) {
    receiver impatient([](peer& one) {
        one.read_some(100);
        one.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        one.half_close();
        one.hang();
    });
    delivery_bench bench;
    auto request = delivery_bench::request_to(impatient.location());
    request.body = std::make_shared<const std::string>(4 * 1024 * 1024, 'x');
    const delivery_answer answer = bench.deliver(std::move(request));
    EXPECT_EQ(answer.status, 413) << answer.message;
    EXPECT_EQ(answer.error, delivery_error::status);
}

TEST_F(hostile_receivers, that_never_read_are_ended_by_the_deadline_while_sending) {
    receiver deaf([](peer& one) { one.ignore(); });
    delivery_bench bench;
    auto request = delivery_bench::request_to(deaf.location());
    request.body = std::make_shared<const std::string>(16 * 1024 * 1024, 'x');
    request.deadline_ms = short_deadline_ms;
    const delivery_answer answer = bench.deliver(std::move(request));
    EXPECT_EQ(answer.error, delivery_error::timeout) << answer.message;
    EXPECT_NE(answer.message.find("sending"), std::string::npos) << answer.message;
}

TEST_F(hostile_receivers, that_refuse_the_connection_are_a_connect_error) {
    std::string location;
    {
        receiver gone([](peer&) {});
        location = gone.location();
    }
    delivery_bench bench;
    const delivery_answer answer = bench.deliver(location);
    EXPECT_EQ(answer.error, delivery_error::connect);
    EXPECT_NE(answer.message.find("refused"), std::string::npos) << answer.message;
}

TEST_F(hostile_receivers, in_a_storm_of_errors_end_each_delivery_with_its_status) {
    receiver stormy([](peer& one) {
        for (int i = 0; !one.read_request().empty(); ++i) {
            one.send(i % 2 == 0 ? "HTTP/1.1 503 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
                                : "HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n");
        }
    });
    delivery_bench bench;
    for (int i = 0; i < 200; ++i) {
        const delivery_answer answer = bench.deliver(stormy.location());
        EXPECT_EQ(answer.error, delivery_error::status) << answer.message;
        EXPECT_EQ(answer.status, i % 2 == 0 ? 503 : 429);
    }
    EXPECT_EQ(stormy.connections(), 1) << "an error that is framed well does not cost the connection";
}

}  // namespace
}  // namespace herald::test
