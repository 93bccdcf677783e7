// One real transport on its own event loop, for tests that send a delivery and check its result.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "workers/http_transport.hpp"

namespace herald::test {

/// Allows http, and treats 127.0.0.1 as part of the public internet; everything else is as in the program.
class delivery_bench {
  public:
    explicit delivery_bench(workers::http_transport_options options = {},
                            std::string_view allowed = "127.0.0.1") {
        options.http = runtime::http::client::plain_http::allowed;
        options.policy = *runtime::http::client::address_policy::parse(allowed);
        x_transport = workers::make_http_transport(x_io, std::move(options));
    }

    static workers::delivery_request request_to(const std::string& location) {
        workers::delivery_request request;
        request.webhook_id = {1};
        request.location = location;
        request.headers = {{"content-type", "application/json"}, {"webhook-id", "msg_1"}};
        request.body = std::make_shared<const std::string>(R"({"hello":"world"})");
        request.deadline_ms = 5'000;
        return request;
    }

    /// Fails the test when no answer arrives soon after the deadline.
    workers::delivery_answer deliver(workers::delivery_request request) {
        workers::delivery_answer answer;
        bool called = false;
        const auto patience = std::chrono::milliseconds(request.deadline_ms) + slack;
        const auto handle = x_transport->post(std::move(request), [&](workers::delivery_answer given) {
            EXPECT_FALSE(called) << "called back twice";
            called = true;
            answer = std::move(given);
        });
        EXPECT_FALSE(called) << "called back from inside post()";
        run_until(called, patience);
        EXPECT_TRUE(called) << "no answer within the deadline";
        return answer;
    }
    workers::delivery_answer deliver(const std::string& location) { return deliver(request_to(location)); }

    void run_until(const bool& done, std::chrono::milliseconds patience) {
        const auto until = std::chrono::steady_clock::now() + patience;
        while (!done && std::chrono::steady_clock::now() < until) {
            x_io.restart();
            x_io.run_one_until(until);
        }
    }

    boost::asio::io_context& io() { return x_io; }
    workers::transport& transport() { return *x_transport; }

    /// How late a callback may come on a busy machine.
    static constexpr std::chrono::milliseconds slack{1'500};

  private:
    boost::asio::io_context x_io;
    std::unique_ptr<workers::transport> x_transport;
};

/// Number of descriptors that this process has open.
std::size_t open_descriptors();

/// Fails a test that leaves a descriptor open.
class no_descriptor_leaks : public ::testing::Test {
  protected:
    void SetUp() override { x_before = open_descriptors(); }
    void TearDown() override { EXPECT_EQ(open_descriptors(), x_before) << "a descriptor was left open"; }

  private:
    std::size_t x_before = 0;
};

}  // namespace herald::test
