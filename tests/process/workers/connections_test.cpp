// Protects the reuse of connections: only for the same host, port and address, only after a complete answer;
// no request is sent twice unless no byte of an answer came; and never more connections than the limits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;
using std::chrono::milliseconds;

void answer_hi(peer& one) {
    while (!one.read_request().empty()) one.send(hi);
}

class connections : public no_descriptor_leaks {};

TEST_F(connections, are_used_again_by_all_webhooks_that_lead_to_the_same_place) {
    receiver target(answer_hi);
    receiver other(answer_hi);
    delivery_bench bench;
    for (int i = 0; i < 5; ++i) {
        const auto answer = bench.deliver(target.location());
        EXPECT_EQ(answer.error, delivery_error::none);
        EXPECT_EQ(answer.address, "127.0.0.1:" + std::to_string(target.port()))
            << "of a reused connection, too";
        EXPECT_EQ(answer.times.connect_us == 0, i > 0);
    }
    EXPECT_EQ(target.connections(), 1);
    auto of_other_webhook = delivery_bench::request_to(target.location());
    of_other_webhook.webhook_id = {2};
    EXPECT_EQ(bench.deliver(std::move(of_other_webhook)).error, delivery_error::none);
    EXPECT_EQ(target.connections(), 1);
    EXPECT_EQ(bench.deliver(other.location()).error, delivery_error::none);
    EXPECT_EQ(other.connections(), 1);
}

TEST_F(connections, to_one_place_are_bounded_and_one_too_many_is_no_failure_of_the_receiver) {
    receiver target([](peer& one) {
        one.read_request();
        one.hang();
    });
    receiver other(answer_hi);
    workers::http_transport_options options;
    options.connections_to_one_max = 2;
    delivery_bench bench(std::move(options));
    bool any = false;
    const auto ignored = [&any](const workers::delivery_answer&) { any = true; };
    const auto first = bench.transport().post(delivery_bench::request_to(target.location()), ignored);
    const auto second = bench.transport().post(delivery_bench::request_to(target.location()), ignored);
    const auto third = bench.deliver(target.location());
    EXPECT_TRUE(third.own_shortage) << third.message;
    EXPECT_FALSE(any);
    EXPECT_EQ(bench.deliver(other.location()).error, delivery_error::none);
}

TEST_F(connections, are_not_used_again_after_an_answer_that_did_not_frame_itself) {
    for (const std::string& text :
         {std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
          hi + "HTTP/1.1 200 OK\r\n\r\n", std::string("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
          "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x')}) {
        receiver target([&](peer& one) {
            while (!one.read_request().empty() && one.send(text)) {
            }
        });
        delivery_bench bench;
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none) << text;
        EXPECT_EQ(target.connections(), 2) << text.substr(0, 80);
    }
}

TEST_F(connections, that_broke_while_idle_are_replaced_without_the_caller_noticing) {
    receiver target([](peer& one) {
        one.read_request();
        one.send(hi);
    });
    delivery_bench bench;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none);
    EXPECT_EQ(target.connections(), 5);
}

TEST_F(connections, on_which_something_came_unasked_are_not_used_again) {
    std::atomic<int> delivered{0};
    std::atomic<int> unasked{0};
    receiver target([&](peer& one) {
        const int before = delivered;
        one.read_request();
        one.send(hi);
        while (delivered == before) std::this_thread::yield();
        one.send("HTTP/1.1 500 To a question not yet asked\r\nContent-Length: 0\r\n\r\n");
        ++unasked;
        one.hang();
    });
    delivery_bench bench;
    for (int i = 1; i <= 3; ++i) {
        const auto answer = bench.deliver(target.location());
        ++delivered;
        EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
        const auto until = std::chrono::steady_clock::now() + milliseconds(5'000);
        while (unasked < i && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    }
    EXPECT_EQ(target.connections(), 3);
}

TEST_F(connections, that_break_under_the_second_request_cost_one_more_try_and_no_third) {
    std::atomic<int> requests{0};
    std::atomic<bool> always_close{false};
    receiver target([&](peer& one) {
        for (int i = 0; !one.read_request().empty(); ++i) {
            ++requests;
            if (i > 0 || always_close) return;  // not a byte of an answer
            one.send(hi);
        }
    });
    delivery_bench bench;
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none);
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none);
    EXPECT_EQ(requests, 3) << "the second request was sent again, on a new connection";
    always_close = true;
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::protocol);
    EXPECT_EQ(requests, 5);
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::protocol);
    EXPECT_EQ(requests, 6) << "on a new connection it is not repeated";
}

TEST_F(connections, that_break_after_one_byte_of_the_answer_are_a_failure) {
    std::atomic<int> requests{0};
    receiver target([&](peer& one) {
        for (int i = 0; !one.read_request().empty(); ++i) {
            ++requests;
            if (i > 0) {
                one.send("H");
                return;
            }
            one.send(hi);
        }
    });
    delivery_bench bench;
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none);
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::protocol);
    EXPECT_EQ(requests, 2);
}

TEST_F(connections, that_are_idle_for_too_long_are_closed) {
    std::atomic<int> closed{0};
    receiver target([&](peer& one) {
        answer_hi(one);
        ++closed;
    });
    workers::http_transport_options options;
    options.idle_ms_max = 100;
    delivery_bench bench(options);
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::none);
    const auto until = std::chrono::steady_clock::now() + milliseconds(5'000);
    while (closed == 0 && std::chrono::steady_clock::now() < until) bench.io().run_for(milliseconds(20));
    EXPECT_EQ(closed, 1);
}

TEST_F(connections, are_bounded_while_idle_and_in_all) {
    std::vector<std::unique_ptr<receiver>> targets;
    for (int i = 0; i < 8; ++i) targets.push_back(std::make_unique<receiver>(answer_hi));
    workers::http_transport_options options;
    options.connections_max = 4;
    options.idle_connections_max = 3;
    delivery_bench bench(options);
    const std::size_t before = open_descriptors();
    for (const auto& target : targets)
        EXPECT_EQ(bench.deliver(target->location()).error, delivery_error::none);
    // Both ends of an idle connection are in this process; the receivers need a moment to close theirs.
    const auto until = std::chrono::steady_clock::now() + milliseconds(5'000);
    while (open_descriptors() > before + 2 * 3 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
    EXPECT_EQ(open_descriptors(), before + 2 * 3);

    receiver hanging([](peer& one) { one.hang(); });
    int refused = 0;
    int over = 0;
    bool all_over = false;
    std::vector<std::unique_ptr<workers::attempt_handle>> handles;
    for (int i = 0; i < 10; ++i) {
        auto request = delivery_bench::request_to(hanging.location());
        request.deadline_ms = 300;
        handles.push_back(
            bench.transport().post(std::move(request), [&](const workers::delivery_answer& answer) {
                refused += answer.error == delivery_error::connect ? 1 : 0;
                all_over = ++over == 10;
            }));
    }
    bench.run_until(all_over, milliseconds(5'000));
    EXPECT_EQ(refused, 6);
}

TEST_F(connections, end_when_their_delivery_is_cancelled) {
    std::atomic<int> gone{0};
    receiver target([&](peer& one) {
        one.read_request();
        one.hang();
        ++gone;
    });
    delivery_bench bench;
    auto handle =
        bench.transport().post(delivery_bench::request_to(target.location()),
                               [](const workers::delivery_answer&) { ADD_FAILURE() << "was cancelled"; });
    EXPECT_FALSE(handle->on_the_wire());
    const auto until = std::chrono::steady_clock::now() + milliseconds(5'000);
    while (!handle->on_the_wire() && std::chrono::steady_clock::now() < until)
        bench.io().run_one_until(until);
    EXPECT_TRUE(handle->on_the_wire());
    handle.reset();
    while (gone == 0 && std::chrono::steady_clock::now() < until) bench.io().run_for(milliseconds(10));
    EXPECT_EQ(gone, 1);
}

TEST_F(connections, are_not_even_begun_when_cancelled_at_once) {
    receiver target(answer_hi);
    delivery_bench bench;
    bench.transport().post(delivery_bench::request_to(target.location()),
                           [](const workers::delivery_answer&) { ADD_FAILURE() << "was cancelled"; });
    bench.io().run_for(milliseconds(50));
    EXPECT_EQ(target.connections(), 0);
}

TEST_F(connections, end_with_a_transport_that_is_destroyed_under_way) {
    receiver target([](peer& one) { one.hang(); });
    boost::asio::io_context io;
    {
        workers::http_transport_options options;
        options.http = runtime::http::client::plain_http::allowed;
        options.policy = *runtime::http::client::address_policy::parse("127.0.0.1");
        const auto transport = workers::make_http_transport(io, options);
        const auto handle =
            transport->post(delivery_bench::request_to(target.location()),
                            [](const workers::delivery_answer&) { ADD_FAILURE() << "was cancelled"; });
        io.run_for(milliseconds(20));
    }
    io.run_for(milliseconds(20));
}

TEST_F(connections, carry_no_header_that_a_value_smuggled_in) {
    std::string seen;
    receiver target([&](peer& one) {
        seen = one.read_request();
        one.send(hi);
    });
    delivery_bench bench;
    auto request = delivery_bench::request_to(target.location());
    request.headers.push_back({"x-text", "a\r\nx-evil: 1"});
    EXPECT_EQ(bench.deliver(std::move(request)).error, delivery_error::none);
    EXPECT_EQ(seen.find("\r\nx-evil"), std::string::npos) << seen;
}

}  // namespace
}  // namespace herald::test
