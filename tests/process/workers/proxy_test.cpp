// Protects deliveries through an egress proxy (delivery.md §5): addresses are judged before it is asked, and
// it is asked for the literal address.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/dns_server.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;

/// What a proxy was asked for.
class questions {
  public:
    void add(const std::string& request) {
        const std::lock_guard lock(x_mutex);
        x_all.push_back(request.substr(0, request.find("\r\n")));
    }
    std::vector<std::string> all() const {
        const std::lock_guard lock(x_mutex);
        return x_all;
    }

  private:
    mutable std::mutex x_mutex;
    std::vector<std::string> x_all;
};

class egress_proxy : public no_descriptor_leaks {
  protected:
    static workers::http_transport_options through(const receiver& proxy) {
        workers::http_transport_options options;
        options.proxy = *runtime::http::client::parse_location(
            "http://127.0.0.1:" + std::to_string(proxy.port()), runtime::http::client::plain_http::allowed,
            *runtime::http::client::address_policy::parse("127.0.0.1"));
        return options;
    }

    questions asked;
    /// A proxy that is also the receiver behind it.
    receiver::script tunnel = [this](peer& one) {
        asked.add(one.read_request());
        one.send("HTTP/1.1 200 Connection established\r\nvia: 1.1 proxy\r\n\r\n");
        for (std::string request = one.read_request(); !request.empty(); request = one.read_request()) {
            asked.add(request);
            one.send(hi);
        }
    };
};

TEST_F(egress_proxy, is_asked_for_the_address_and_its_tunnel_is_used_again) {
    receiver proxy(tunnel);
    delivery_bench bench(through(proxy), "203.0.113.7");
    for (int i = 0; i < 2; ++i) {
        const auto answer = bench.deliver("http://203.0.113.7:8080/hook");
        EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
        EXPECT_EQ(answer.address, "203.0.113.7:8080");
    }
    EXPECT_EQ(asked.all(), (std::vector<std::string>{"CONNECT 203.0.113.7:8080 HTTP/1.1",
                                                     "POST /hook HTTP/1.1", "POST /hook HTTP/1.1"}));
    EXPECT_EQ(proxy.connections(), 1);
}

TEST_F(egress_proxy, is_not_asked_for_an_address_that_is_not_allowed) {
    receiver proxy(tunnel);
    delivery_bench bench(through(proxy), "203.0.113.7");
    for (const char* location : {"http://127.0.0.1:8080/hook", "http://169.254.169.254/latest",
                                 "http://[::1]:80/", "http://10.0.0.9:8080/hook"})
        EXPECT_EQ(bench.deliver(location).error, delivery_error::address_not_allowed) << location;
    EXPECT_EQ(proxy.connections(), 0);
}

TEST_F(egress_proxy, that_refuses_or_answers_nonsense_is_a_failure_to_connect) {
    for (const std::string& text : std::vector<std::string>{
             std::string("HTTP/1.1 502 Bad Gateway\r\n\r\n"), std::string("HTTP/1.1 407 Who are you\r\n\r\n"),
             std::string("SSH-2.0-OpenSSH_9\r\n\r\n"), "HTTP/1.1 200 OK\r\n\r\nand what nobody asked for",
             std::string(100'000, 'x'), std::string()}) {
        receiver proxy([&](peer& one) {
            one.read_request();
            one.send(text);
        });
        delivery_bench bench(through(proxy), "203.0.113.7");
        const auto answer = bench.deliver("http://203.0.113.7:8080/hook");
        EXPECT_EQ(answer.error, delivery_error::connect) << text.substr(0, 40) << ": " << answer.message;
        EXPECT_FALSE(answer.own_shortage);
        EXPECT_NE(answer.message.find("proxy"), std::string::npos) << answer.message;
    }
}

TEST_F(egress_proxy, that_hangs_ends_with_the_deadline) {
    receiver proxy([](peer& one) { one.hang(); });
    delivery_bench bench(through(proxy), "203.0.113.7");
    auto request = delivery_bench::request_to("http://203.0.113.7:8080/hook");
    request.deadline_ms = 300;
    const auto answer = bench.deliver(std::move(request));
    EXPECT_EQ(answer.error, delivery_error::timeout);
    EXPECT_NE(answer.message.find("egress proxy"), std::string::npos) << answer.message;
}

TEST_F(egress_proxy, that_cannot_be_reached_says_nothing_about_the_receiver) {
    workers::http_transport_options options;
    {
        receiver gone([](peer&) {});
        options = through(gone);
    }
    delivery_bench bench(std::move(options), "203.0.113.7");
    EXPECT_TRUE(bench.deliver("http://203.0.113.7:8080/hook").own_shortage);
}

}  // namespace
}  // namespace herald::test
