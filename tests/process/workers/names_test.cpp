// Protects P6 on the way to the network: a name may be used only if all of its addresses are allowed, checked
// at each attempt, and DNS cannot delay a delivery.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "runtime/http/limits.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/dns_server.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using kind = dns_answer::kind;

// In these tests 127.0.0.1 is public (delivery_bench) and 127.0.0.2 is private.
const std::string public_address = "127.0.0.1";
const std::string private_address = "127.0.0.2";

void answer_hi(peer& one) {
    while (!one.read_request().empty()) one.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

workers::http_transport_options asking(const dns_server& dns) {
    workers::http_transport_options options;
    options.dns.servers = dns.address();
    return options;
}

std::string location_of(const std::string& name, std::uint16_t port) {
    return "http://" + name + ":" + std::to_string(port) + "/hook";
}

class names : public no_descriptor_leaks {};

TEST_F(names, lead_to_their_address_and_are_what_the_receiver_sees_as_host) {
    std::string seen;
    receiver target([&](peer& one) {
        seen = one.read_request();
        one.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        one.hang();
    });
    std::atomic<int> questions{0};
    {
        const dns_server dns([&](const std::string& name, dns_family) -> dns_answer {
            ++questions;
            if (name != "hooks.herald.test") return {kind::no_such_name, {}};
            return {kind::addresses, {public_address}};
        });
        delivery_bench bench(asking(dns));
        const auto answer = bench.deliver(location_of("Hooks.Herald.Test.", target.port()));
        EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
        EXPECT_EQ(answer.address, "127.0.0.1:" + std::to_string(target.port()));
        EXPECT_GT(answer.times.dns_us, 0u);
        EXPECT_NE(seen.find("\r\nhost: hooks.herald.test:" + std::to_string(target.port()) + "\r\n"),
                  std::string::npos)
            << seen;
    }
    EXPECT_EQ(questions, 2) << "one for each family";
}

TEST_F(names, with_one_private_address_among_public_ones_are_refused_and_not_connected_to) {
    receiver target(answer_hi);
    const dns_server dns([](const std::string& name, dns_family family) -> dns_answer {
        if (name == "v4.test") return {kind::addresses, {public_address, private_address}};
        if (name == "v6.test") return {kind::addresses, {public_address, "fd00::1"}};
        if (name == "mapped.test") return {kind::addresses, {public_address, "::ffff:169.254.169.254"}};
        if (family == dns_family::v4) return {kind::addresses, {private_address}};
        return {kind::silence, {}};
    });
    delivery_bench bench(asking(dns));
    for (const char* name : {"v4.test", "v6.test", "mapped.test", "only-private.test"}) {
        const auto answer = bench.deliver(location_of(name, target.port()));
        EXPECT_EQ(answer.error, delivery_error::address_not_allowed) << name << ": " << answer.message;
        EXPECT_FALSE(answer.refused_for_good) << "the name may lead elsewhere next time";
        EXPECT_NE(answer.message.find("not allowed"), std::string::npos) << answer.message;
    }
    EXPECT_EQ(target.connections(), 0);
}

TEST_F(names, that_turn_private_are_refused_even_while_a_connection_is_open) {
    receiver target(answer_hi);
    receiver trap(answer_hi, {.address = "127.0.0.2"});
    std::atomic<bool> turned{false};
    const dns_server dns([&](const std::string&, dns_family) -> dns_answer {
        return {kind::addresses, {turned ? private_address : public_address}};
    });
    delivery_bench bench(asking(dns));
    EXPECT_EQ(bench.deliver(location_of("flips.test", target.port())).error, delivery_error::none);
    turned = true;
    for (const auto port : {target.port(), trap.port()}) {
        EXPECT_EQ(bench.deliver(location_of("flips.test", port)).error, delivery_error::address_not_allowed);
    }
    turned = false;
    EXPECT_EQ(bench.deliver(location_of("flips.test", target.port())).error, delivery_error::none);
    EXPECT_EQ(trap.connections(), 0);
}

TEST_F(names, that_do_not_exist_or_cannot_be_looked_up_are_dns_errors) {
    const dns_server dns([](const std::string& name, dns_family) -> dns_answer {
        if (name == "nobody.test") return {kind::no_such_name, {}};
        if (name == "empty.test") return {kind::addresses, {}};
        return {kind::server_failure, {}};
    });
    delivery_bench bench(asking(dns));
    const std::pair<const char*, const char*> cases[]{
        {"nobody.test", "does not exist"}, {"empty.test", "has no address"}, {"broken.test", "broken.test"}};
    for (const auto& [name, why] : cases) {
        const auto started = steady_clock::now();
        const auto answer = bench.deliver(location_of(name, 8080));
        EXPECT_EQ(answer.error, delivery_error::dns) << name;
        EXPECT_NE(answer.message.find(why), std::string::npos) << answer.message;
        EXPECT_FALSE(answer.refused_for_good);
        EXPECT_LT(steady_clock::now() - started,
                  milliseconds(limits::client_resolve_ms) + delivery_bench::slack);
    }
}

TEST_F(names, whose_servers_are_silent_cost_two_seconds) {
    const dns_server dns([](const std::string&, dns_family) -> dns_answer { return {kind::silence, {}}; });
    delivery_bench bench(asking(dns));
    const auto started = steady_clock::now();
    const auto answer = bench.deliver(location_of("silent.test", 8080));
    EXPECT_EQ(answer.error, delivery_error::dns) << answer.message;
    const auto took = steady_clock::now() - started;
    EXPECT_LT(took, milliseconds(limits::client_resolve_ms) + delivery_bench::slack);
    EXPECT_GE(took, milliseconds(1'000)) << "it must have been asked more than once";

    auto hasty = delivery_bench::request_to(location_of("silent.test", 8080));
    hasty.deadline_ms = 300;
    EXPECT_EQ(bench.deliver(std::move(hasty)).error, delivery_error::timeout) << "the deadline counts, too";
}

TEST_F(names, are_given_up_when_their_own_time_is_over) {
    const dns_server dns([](const std::string&, dns_family) -> dns_answer { return {kind::silence, {}}; });
    workers::http_transport_options options = asking(dns);
    options.dns.lookup_ms_max = 100;
    delivery_bench bench(options);
    const auto answer = bench.deliver(location_of("silent.test", 8080));
    EXPECT_EQ(answer.error, delivery_error::dns);
    EXPECT_NE(answer.message.find("within 100 ms"), std::string::npos) << answer.message;
}

TEST_F(names, that_move_are_followed_even_while_a_connection_to_the_old_address_is_open) {
    receiver target(answer_hi, {.address = "0.0.0.0"});
    std::atomic<bool> moved{false};
    const dns_server dns([&](const std::string&, dns_family) -> dns_answer {
        return {kind::addresses, {moved ? "127.0.0.3" : public_address}};
    });
    delivery_bench bench(asking(dns), "127.0.0.1,127.0.0.3");
    const std::string location = location_of("moves.test", target.port());
    EXPECT_TRUE(bench.deliver(location).address.starts_with("127.0.0.1:"));
    moved = true;
    const auto answer = bench.deliver(location);
    EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
    EXPECT_TRUE(answer.address.starts_with("127.0.0.3:")) << answer.address;
    EXPECT_EQ(target.connections(), 2);
}

TEST_F(names, of_which_one_family_is_never_answered_still_lead_to_the_other) {
    receiver target(answer_hi);
    const dns_server dns([](const std::string&, dns_family family) -> dns_answer {
        if (family == dns_family::v6) return {kind::silence, {}};
        return {kind::addresses, {public_address}};
    });
    delivery_bench bench(asking(dns));
    EXPECT_EQ(bench.deliver(location_of("half.test", target.port())).error, delivery_error::none);
}

TEST_F(names, with_a_dead_address_are_reached_through_the_next_one) {
    receiver target(answer_hi, {.address = "127.0.0.3"});
    const dns_server dns([](const std::string&, dns_family) -> dns_answer {
        return {kind::addresses, {public_address, "127.0.0.3"}};
    });
    workers::http_transport_options options = asking(dns);
    delivery_bench bench(options, "127.0.0.1,127.0.0.3");
    const auto answer = bench.deliver(location_of("two.test", target.port()));
    EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
    EXPECT_EQ(answer.address, "127.0.0.3:" + std::to_string(target.port()));
}

TEST_F(names, with_many_addresses_are_tried_at_four_also_after_a_connection_that_broke) {
    std::atomic<bool> many{false};
    receiver target([](peer& one) {
        if (!one.read_request().empty()) one.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        one.read_request();  // the second one is not answered
    });
    const dns_server dns([&](const std::string&, dns_family) -> dns_answer {
        if (!many) return {kind::addresses, {public_address}};
        return {kind::addresses,
                {"127.0.0.11", "127.0.0.12", "127.0.0.13", "127.0.0.14", "127.0.0.15", public_address}};
    });
    delivery_bench bench(asking(dns), "127.0.0.1,127.0.0.8/29");
    EXPECT_EQ(bench.deliver(location_of("many.test", target.port())).error, delivery_error::none);
    many = true;
    const auto answer = bench.deliver(location_of("many.test", target.port()));
    EXPECT_EQ(answer.error, delivery_error::connect) << answer.message;
    EXPECT_EQ(std::count(answer.message.begin(), answer.message.end(), ';'), 3) << answer.message;
}

TEST_F(names, are_looked_up_for_many_deliveries_at_once) {
    receiver target(answer_hi);
    const dns_server dns([](const std::string&, dns_family) -> dns_answer {
        return {kind::addresses, {public_address}};
    });
    delivery_bench bench(asking(dns));
    constexpr int count = 100;
    int done = 0;
    bool all_done = false;
    std::vector<std::unique_ptr<workers::attempt_handle>> handles;
    for (int i = 0; i < count; ++i) {
        auto request =
            delivery_bench::request_to(location_of("n" + std::to_string(i) + ".test", target.port()));
        handles.push_back(
            bench.transport().post(std::move(request), [&](const workers::delivery_answer& answer) {
                EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
                all_done = ++done == count;
            }));
    }
    bench.run_until(all_done, milliseconds(10'000));
    EXPECT_EQ(done, count);
}

TEST_F(names, and_literal_addresses_that_are_refused_never_see_a_connection) {
    receiver trap(answer_hi, {.address = "127.0.0.2"});
    delivery_bench bench;
    const auto answer = bench.deliver(trap.location());
    EXPECT_EQ(answer.error, delivery_error::address_not_allowed);
    EXPECT_TRUE(answer.refused_for_good) << "the location itself would have to change";
    EXPECT_EQ(trap.connections(), 0);
}

}  // namespace
}  // namespace herald::test
