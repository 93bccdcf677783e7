// Protects the last word before an answer (P7): a guard is asked after the handler has ended, in the step in
// which the first byte goes out, and what it gives goes out whole in the answer's place.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/http/body.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/text.hpp"
#include "tests/process/runtime/http/server/client.hpp"
#include "tests/process/runtime/http/server/tls_client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;
using runtime::http::body_stream;
using runtime::http::http_response;
using runtime::http::send_guard;

constexpr std::string_view first_word = "the first word";

struct guard_state {
    std::atomic<bool> refuses = false;
    std::atomic<bool> is_handling = false;
    std::atomic<int> asked = 0;
    std::atomic<int> asked_too_early = 0;
    std::atomic<int> pieces = 0;
};

class counting_guard final : public send_guard {
  public:
    explicit counting_guard(guard_state& state) : x_state(state) {}
    std::optional<http_response> instead() const override {
        ++x_state.asked;
        if (x_state.is_handling) ++x_state.asked_too_early;
        if (!x_state.refuses) return std::nullopt;
        http_response out = error_response(runtime::permission_denied("not any more"));
        out.head_lines = "x-second: 2\r\n";
        return out;
    }

  private:
    guard_state& x_state;
};

class one_piece final : public body_stream {
  public:
    explicit one_piece(guard_state& state) : x_state(state) {}
    boost::asio::awaitable<result<std::string_view>> next() override {
        ++x_state.pieces;
        co_return std::exchange(x_text, std::string_view());
    }

  private:
    guard_state& x_state;
    std::string_view x_text = first_word;
};

/// /now is answered at once, all others by a coroutine: /stream in pieces, /large with 1 MiB. All with a
/// guard, but for /free and /<number>, a body of so many bytes.
class guarded final : public request_handler {
  public:
    bool handle_now(const request& asked, const plan&, http_response& out) override {
        if (asked.path != "/now") return false;
        const handling here(state);
        out = answer(asked.path);
        return true;
    }
    boost::asio::awaitable<http_response> handle(const request& asked, const plan&) override {
        const handling here(state);
        co_return answer(asked.path);
    }

    guard_state state;

  private:
    struct handling {
        explicit handling(guard_state& of) : state(of) { state.is_handling = true; }
        ~handling() { state.is_handling = false; }
        handling(const handling&) = delete;
        handling& operator=(const handling&) = delete;
        guard_state& state;
    };
    http_response answer(std::string_view path) {
        http_response out;
        const auto bytes = runtime::parse_decimal(path.substr(1));
        out.body = path == "/large" ? std::string(1 << 20, 'x') : std::string(first_word);
        if (bytes) out.body.assign(*bytes, 'x');
        out.headers.push_back({"x-first", "1"});
        out.head_lines = "x-also-first: 1\r\n";
        if (path == "/stream") {
            out.stream = std::make_shared<one_piece>(state);
            out.stream_bytes = first_word.size();
        }
        if (path != "/free" && !bytes) out.guard = std::make_shared<counting_guard>(state);
        return out;
    }
};

class guard : public testing::Test {
  protected:
    explicit guard(server_options options = {}) {
        options.log = request_log::off;
        auto made = make_server(std::move(options), handler, x_loops);
        if (!made) throw std::runtime_error(made.error().message);
        x_server = std::move(*made);
        x_server->start();
    }
    ~guard() override { x_server->stop(); }

    std::uint16_t port() const { return x_server->port(); }
    client connect() const { return client(port()); }

    guarded handler;

  private:
    runtime::event_loops x_loops{{.loops = 1}};
    std::unique_ptr<server> x_server;
};

constexpr const char* guarded_paths[] = {"/now", "/later", "/large", "/stream"};

TEST_F(guard, that_says_nothing_lets_the_answer_out) {
    client caller = connect();
    for (const char* const path : guarded_paths) {
        handler.state.asked = 0;
        const answer got = caller.ask(get(path));
        EXPECT_EQ(got.status, 200) << path;
        EXPECT_EQ(got.header("x-first"), "1") << path;
        EXPECT_EQ(got.header("x-also-first"), "1") << path;
        if (path == std::string("/large"))
            EXPECT_EQ(got.body.size(), std::size_t{1} << 20);
        else
            EXPECT_EQ(got.body, first_word) << path;
        EXPECT_EQ(handler.state.asked, 1) << path;
    }
}

TEST_F(guard, that_refuses_is_heard_in_the_place_of_all_of_the_answer) {
    handler.state.refuses = true;
    client caller = connect();
    for (const char* const path : guarded_paths) {
        handler.state.asked = 0;
        const answer got = caller.ask(get(path));
        EXPECT_EQ(got.status, 403) << path;
        EXPECT_NE(got.body.find("not any more"), std::string::npos) << path;
        EXPECT_EQ(got.header("content-length"), std::to_string(got.body.size())) << path;
        EXPECT_EQ(got.header("x-second"), "2") << path;
        EXPECT_FALSE(got.header("svc-request-id").empty()) << path;
        for (const char* const name : {"x-first", "x-also-first", "transfer-encoding"})
            EXPECT_TRUE(got.headers(name).empty()) << path << " " << name;
        EXPECT_EQ(handler.state.asked, 1) << path;
    }
    EXPECT_EQ(handler.state.pieces, 0) << "a stream that is not sent is not asked";
    handler.state.refuses = false;
    EXPECT_EQ(caller.ask(get("/later")).status, 200) << "the connection goes on";
}

TEST_F(guard, is_asked_after_the_handler_has_ended) {
    client caller = connect();
    for (const bool refuses : {true, false}) {
        handler.state.refuses = refuses;
        for (const char* const path : guarded_paths) caller.ask(get(path));
    }
    EXPECT_EQ(handler.state.asked, 8);
    EXPECT_EQ(handler.state.asked_too_early, 0);
}

TEST_F(guard, is_asked_for_each_of_pipelined_requests) {
    client caller = connect();
    std::string all;
    for (int i = 0; i < 50; ++i) all += get("/now") + get("/free") + get("/later");
    handler.state.refuses = true;
    caller.send(all);
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(caller.receive().status, 403);
        EXPECT_EQ(caller.receive().status, 200) << "without a guard";
        EXPECT_EQ(caller.receive().status, 403);
    }
    EXPECT_EQ(handler.state.asked, 100);
}

class guard_over_tls : public guard {
  protected:
    guard_over_tls() : guard_over_tls(std::make_unique<certificate_files>()) {}

    const std::unique_ptr<certificate_files> files;

  private:
    explicit guard_over_tls(std::unique_ptr<certificate_files> made)
        : guard(with_tls(*made)), files(std::move(made)) {}
};

// Here a socket takes a next answer only when a third of its buffer is free: so there are lengths behind
// which a caller who does not read gets an answer that has been made, but not its first byte.
TEST_F(guard_over_tls, is_asked_again_when_there_is_room_for_the_first_byte) {
    for (std::size_t bytes = 256 * 1024; bytes < 8UL * 1024 * 1024; bytes += 64UL * 1024) {
        tls_client caller(port(), *files);
        ASSERT_TRUE(caller.shakes_hands());
        handler.state.refuses = false;
        handler.state.asked = 0;
        caller.send(get("/" + std::to_string(bytes)) + get("/later", "Connection: close\r\n"));
        // Asked a second time, it has gone out.
        const bool waits = eventually(0.05, [&] { return handler.state.asked > 0; }) &&
                           !eventually(0.05, [&] { return handler.state.asked > 1; });
        handler.state.refuses = true;
        bool is_clean = false;
        const std::string all = caller.receive_all(is_clean);
        if (all.find(first_word) != all.npos) continue;
        EXPECT_NE(all.find("HTTP/1.1 403"), all.npos);
        if (waits) return;
    }
    FAIL() << "a first byte always went out at once";
}

TEST_F(guard, that_refuses_has_no_body_for_HEAD) {
    handler.state.refuses = true;
    client caller = connect();
    for (const char* const path : guarded_paths) {
        caller.send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: herald\r\n\r\n");
        EXPECT_EQ(caller.receive("HEAD").status, 403) << path;
    }
    EXPECT_EQ(caller.ask(get("/free")).body, first_word) << "nothing was left behind";
}

}  // namespace
}  // namespace herald::test
