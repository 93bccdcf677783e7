// Protects what must not be done twice: a request that asks for it (repeat::unless_begun) is sent again only
// where the other side cannot have read it whole.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "runtime/http/client/client.hpp"
#include "tests/process/workers/certificates.hpp"
#include "tests/process/workers/client_bench.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/receiver.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::client;
using std::chrono::milliseconds;

const std::string whole_answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

enum class way { plain, tls };

/// What became of a second request, sent on the connection of the first.
struct outcome {
    answer got;
    int connections = 0;
    std::chrono::steady_clock::duration took{};
};

class repeats : public no_descriptor_leaks, public testing::WithParamInterface<way> {
  protected:
    /// What the receiver does on the first connection; on others it answers whatever it is asked.
    using script = std::function<void(peer&)>;
    struct bodies {
        std::size_t first_bytes;
        std::size_t second_bytes;
    };

    outcome ask_twice(const script& on_first, bodies sizes, int receive_buffer_bytes = 0) {
        const identity authority = make_identity({.common_name = "the test's authority"}, nullptr);
        const identity who = make_identity({.alternative_name = "IP:127.0.0.1"}, &authority);
        const temporary_folder folder;
        const std::string ca_file = (folder / "authority.pem").string();
        std::ofstream(ca_file) << authority.certificate_pem();
        std::atomic<int> began{0};
        receiver target(
            [&](peer& one) {
                if (began++ == 0) return on_first(one);
                while (!one.read_request().empty()) one.send(whole_answer);
            },
            {.tls = GetParam() == way::tls ? &who : nullptr, .receive_buffer_bytes = receive_buffer_bytes});
        client_bench bench(ca_file);
        const auto ask = [&](std::size_t bytes) {
            request asked = client_bench::to(target, answer_body::collected);
            asked.method = runtime::http::http_method::post;
            asked.body = std::make_shared<const std::string>(bytes, 'x');
            asked.on_reused = repeat::unless_begun;
            return bench.ask(std::move(asked));
        };
        EXPECT_EQ(ask(sizes.first_bytes).body, "hi");
        x_is_second = true;
        outcome out;
        const auto begin = std::chrono::steady_clock::now();
        out.got = ask(sizes.second_bytes);
        out.took = std::chrono::steady_clock::now() - begin;
        out.connections = target.connections();
        return out;
    }

    /// Until the second request is sent, and some time longer: it does not end the connection at once. Of a
    /// request that took less than waited_min nobody knows on which connection it began.
    static constexpr milliseconds waited_min{100};
    void wait_for_second() const {
        const auto until = std::chrono::steady_clock::now() + milliseconds(5'000);
        while (!x_is_second && std::chrono::steady_clock::now() < until) std::this_thread::yield();
        std::this_thread::sleep_for(milliseconds(600));
    }

  private:
    std::atomic<bool> x_is_second{false};
};

TEST_P(repeats, are_not_of_what_was_read_whole_however_the_connection_ends_and_however_soon) {
    for (const bool resets : {false, true}) {
        for (const int works_ms : {0, 20, 60, 300}) {
            std::atomic<int> read{0};
            const outcome seen = ask_twice(
                [&](peer& one) {
                    one.read_request();
                    one.send(whole_answer);
                    if (one.read_request().empty()) return;
                    ++read;
                    std::this_thread::sleep_for(milliseconds(works_ms));  // the receiver's own time
                    if (resets) one.reset();
                },
                {.first_bytes = 10, .second_bytes = 10});
            const std::string how = (resets ? "reset after " : "closed after ") + std::to_string(works_ms);
            EXPECT_EQ(read, 1) << how;
            EXPECT_EQ(seen.got.failed, failure::protocol) << how;
            EXPECT_EQ(seen.connections, 1) << how;
        }
    }
}

/// The rest of it waits in this machine's kernel, which took it all.
TEST_P(repeats, are_of_what_did_not_all_leave) {
    for (const bool resets : {false, true}) {
        const outcome seen = ask_twice(
            [&](peer& one) {
                one.read_request();
                one.send(whole_answer);
                wait_for_second();
                if (resets) return one.reset();
                one.half_close();
                one.ignore();
            },
            {.first_bytes = 10, .second_bytes = 200'000}, 4096);
        const std::string how = resets ? "reset: " : "closed: ";
        EXPECT_EQ(seen.got.body, "hi") << how << seen.got.message;
        EXPECT_EQ(seen.connections, 2) << how;
        EXPECT_GE(seen.took, waited_min) << how << "it began on a new connection";
    }
}

/// It left whole, and the other side's end of the connection came without an acknowledgement of it.
TEST_P(repeats, are_of_what_had_not_arrived_when_the_other_side_closed) {
    const outcome seen = ask_twice(
        [&](peer& one) {
            one.read_some(1);
            one.take_no_more();
            std::this_thread::sleep_for(
                milliseconds(200));  // until the first is sent: else it ends the connection
            one.send(whole_answer);
            wait_for_second();
            one.half_close();
            one.ignore();
        },
        {.first_bytes = 40'000, .second_bytes = 15'000});
    EXPECT_EQ(seen.got.body, "hi") << seen.got.message;
    EXPECT_EQ(seen.connections, 2);
    EXPECT_GE(seen.took, waited_min) << "it began on a new connection";
}

INSTANTIATE_TEST_SUITE_P(client, repeats, testing::Values(way::plain, way::tls), [](const auto& one) {
    return std::string(one.param == way::plain ? "without_tls" : "with_tls");
});

}  // namespace
}  // namespace herald::test
