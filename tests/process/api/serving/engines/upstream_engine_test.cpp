// Protects predictions that a server answers: each is answered once, whatever the server does, nothing of it
// goes to an address that is not allowed, and a build counts as loaded only when its server is healthy.
#include "api/serving/engines/upstream_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "api/serving/engines/limits.hpp"
#include "runtime/event_loop.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using namespace api::serving::engines;
namespace client = runtime::http::client;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view healthy = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

std::string answer_of(const std::string& head, const std::string& body) {
    return "HTTP/1.1 " + head + "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A model's server, which is healthy, and answers predictions by a script.
class model_server {
  public:
    using play = std::function<void(peer&, const std::string& request)>;
    explicit model_server(play to_play, int receive_buffer_bytes = 0)
        : x_play(std::move(to_play)),
          x_receiver([this](peer& other) { serve(other); }, {.receive_buffer_bytes = receive_buffer_bytes}) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(x_receiver.port()) + "/predict"; }
    int connections() const { return x_receiver.connections(); }

  private:
    void serve(peer& other) {
        for (std::string request = other.read_request(); !request.empty(); request = other.read_request()) {
            if (request.starts_with("GET /ping ") || request.starts_with("HEAD "))
                other.send(request.starts_with("HEAD ") ? std::string_view("HTTP/1.1 200 OK\r\n\r\n")
                                                        : healthy);
            else
                return x_play(other, request);
        }
    }
    const play x_play;
    receiver x_receiver;
};

class upstream : public testing::Test {
  protected:
    /// The engine, with loopback allowed or not.
    std::unique_ptr<engine> engine_for(const std::string& allowed) {
        client::client_options options;
        options.policy = *client::address_policy::parse(allowed);
        return make_upstream_engine({&loops[0], &loops[1]}, options);
    }
    result<loaded_model> load(const std::string& url, const std::string& health_path = "/ping") {
        model_source source;
        source.build = schemas::build_id{7};
        source.upstream_url = url;
        source.health_path = health_path;
        std::promise<result<loaded_model>> came;
        engines->load(source, [&](result<loaded_model> out) { came.set_value(std::move(out)); });
        return came.get_future().get();
    }
    /// On the first loop, to which a body that follows then belongs.
    result<body_response> infer(const loaded_model& model, body_request request = default_request()) {
        if (request.deadline_ms == 0) request.deadline_ms = runtime::system_clock().steady_ms() + 10'000;
        std::promise<result<body_response>> came;
        loops[0].post([&] {
            model.bodies->infer(std::move(request),
                                [&](result<body_response> out) { came.set_value(std::move(out)); });
        });
        return came.get_future().get();
    }
    result<std::string> next(const body_response& response) {
        const auto piece =
            boost::asio::co_spawn(loops[0].context(), response.stream->next(), boost::asio::use_future).get();
        if (!piece) return piece.error();
        return std::string(*piece);
    }
    /// Nothing when it comes whole.
    std::optional<error_code> how_it_ends(const body_response& response) {
        auto piece = next(response);
        while (piece && !piece->empty()) piece = next(response);
        return piece ? std::nullopt : std::optional(piece.error().code);
    }
    static body_request default_request() {
        body_request out;
        out.request_id = "r-17";
        out.body = "[1,2]";
        return out;
    }
    static int status_of(const result<body_response>& response) {
        return response ? response->status : runtime::http_status(response.error());
    }

    runtime::event_loops loops{{.loops = 2, .cores = {}, .blocking_threads = 1}};
    std::unique_ptr<engine> engines = engine_for("127.0.0.0/8");
    void TearDown() override { loops.stop(); }
};

TEST_F(upstream, a_prediction_is_the_servers_answer_to_the_body) {
    std::string seen;
    model_server server([&](peer& other, const std::string& request) {
        seen = request;
        other.send(answer_of("200 OK\r\ncontent-type: application/json\r\nset-cookie: a=b", "[3]"));
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model) << model.error().message;
    const auto response = infer(*model);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "[3]");
    EXPECT_EQ(response->content_type, "application/json");
    EXPECT_THAT(seen, HasSubstr("POST /predict HTTP/1.1"));
    EXPECT_THAT(seen, HasSubstr("svc-request-id: r-17"));
    EXPECT_THAT(seen, testing::EndsWith("\r\n\r\n[1,2]"));
    for (const char* never : {"ccess-token", "uthorization", "ookie", "rpc-etadata", "pgrade"})
        EXPECT_THAT(seen, Not(HasSubstr(never)));
}

TEST_F(upstream, every_status_of_the_server_has_its_meaning) {
    std::atomic<int> status{0};
    model_server server([&](peer& other, const std::string&) {
        // Its connection ends after the answer, and the next prediction must not be sent on it.
        const std::string head = "location: http://127.0.0.1:1/\r\nretry-after: 3\r\nconnection: close";
        other.send(answer_of(std::to_string(status) + " Said\r\n" + head, "x"));
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    const std::map<int, int> meanings{{200, 200}, {201, 201}, {302, 502}, {400, 400}, {401, 502}, {403, 502},
                                      {404, 502}, {422, 400}, {429, 429}, {500, 502}, {503, 502}};
    for (const auto& [said, meant] : meanings) {
        status = said;
        EXPECT_EQ(status_of(infer(*model)), meant) << said;
    }
}

TEST_F(upstream, a_long_answer_is_passed_on_while_it_comes) {
    const std::string half(100'000, 'x');
    std::promise<void> has_arrived;
    model_server server([&, arrived = has_arrived.get_future().share()](peer& other, const std::string&) {
        other.send("HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n" + half);
        arrived.wait_for(std::chrono::seconds(10));
        other.send(half);
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    const auto response = infer(*model);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "");
    EXPECT_EQ(response->stream_bytes, 200'000u);
    std::size_t bytes = 0;
    for (auto piece = next(*response); piece && !piece->empty(); piece = next(*response)) {
        EXPECT_LE(piece->size(), response->stream->bytes_held_max());
        const bool was_first_half = bytes < half.size();
        bytes += piece->size();
        if (was_first_half && bytes >= half.size()) has_arrived.set_value();
    }
    EXPECT_EQ(bytes, 200'000u);
}

TEST_F(upstream, a_long_answer_that_breaks_off_or_outlasts_the_deadline_does_not_end_as_if_it_were_whole) {
    model_server cut([&](peer& other, const std::string&) {
        other.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n");
    });
    const auto cut_model = load(cut.url());
    ASSERT_TRUE(cut_model);
    const auto broken = infer(*cut_model);
    ASSERT_TRUE(broken) << broken.error().message;
    EXPECT_EQ(broken->stream_bytes, std::nullopt);
    EXPECT_EQ(how_it_ends(*broken), error_code::unavailable);

    model_server slow([](peer& other, const std::string&) {
        other.send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        other.drip(std::string(100'000, 'x'), 20);
    });
    const auto slow_model = load(slow.url());
    ASSERT_TRUE(slow_model);
    body_request request = default_request();
    request.deadline_ms = runtime::system_clock().steady_ms() + 500;
    const auto late = infer(*slow_model, request);
    ASSERT_TRUE(late) << late.error().message;
    EXPECT_EQ(how_it_ends(*late), error_code::deadline_exceeded);
}

TEST_F(upstream, a_long_answer_that_pauses_ends_at_the_deadline_and_not_later) {
    model_server server([](peer& other, const std::string&) {
        other.send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        other.drip("xx", 1'200);  // one byte at once, one after most of the time
        other.hang();
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    body_request request = default_request();
    const std::int64_t begun_ms = runtime::system_clock().steady_ms();
    request.deadline_ms = begun_ms + 1'500;
    const auto response = infer(*model, request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(how_it_ends(*response), error_code::deadline_exceeded);
    const std::int64_t took_ms = runtime::system_clock().steady_ms() - begun_ms;
    EXPECT_GE(took_ms, 1'490);
    EXPECT_LT(took_ms, 2'300) << "the last wait was longer than the time that was left";
}

TEST_F(upstream, a_server_that_is_slow_meets_the_deadline) {
    model_server server([](peer& other, const std::string&) { other.hang(); });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    body_request request = default_request();
    request.deadline_ms = runtime::system_clock().steady_ms() + 200;
    EXPECT_EQ(status_of(infer(*model, request)), 504);
    request.deadline_ms = runtime::system_clock().steady_ms() - 1;
    EXPECT_EQ(status_of(infer(*model, request)), 504);
}

TEST_F(upstream, what_is_wrong_with_an_answer_is_said_and_that_there_was_one) {
    std::string said;
    model_server server([&](peer& other, const std::string&) { other.send(said); });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    const std::string unusable = "the upstream server's answer cannot be used: ";
    const std::map<std::string, std::string> texts{
        {"", "the upstream server did not respond: the connection was closed before an answer came"},
        {"HTTP/1.1 099 Odd\r\n\r\n", unusable + "status 99 does not exist"},
        {"HTTP/7.1 200 OK\r\n\r\n", unusable + "not a correct HTTP answer: bad version"},
        {"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx",
         unusable + "the connection was closed in the middle of the answer"},
        {"HTTP/1.1 200 OK\r\nx: " + std::string(17 * 1024, 'x') + "\r\n\r\n",
         unusable + "the header of the answer, interim answers included, is longer than 16 KiB"},
        {"HTTP/1.1 101 Switching\r\n\r\n",
         unusable + "the other side switched protocols, which was not asked for"}};
    for (const auto& [bytes, text] : texts) {
        said = bytes;
        const auto response = infer(*model);
        ASSERT_FALSE(response) << text;
        EXPECT_EQ(status_of(response), 502) << text;
        EXPECT_EQ(response.error().message, text);
    }
}

TEST_F(upstream, a_server_that_begins_an_answer_and_does_not_end_it_in_time_is_said_to_have_begun) {
    model_server server([](peer& other, const std::string&) {
        other.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx");
        other.hang();
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    body_request request = default_request();
    request.deadline_ms = runtime::system_clock().steady_ms() + 200;
    const auto response = infer(*model, request);
    ASSERT_EQ(status_of(response), 504);
    EXPECT_THAT(response.error().message, HasSubstr("did not finish its answer before the deadline"));
}

TEST_F(upstream, a_server_that_closes_in_an_answer_is_asked_once) {
    std::atomic<int> asked{0};
    model_server server([&](peer& other, const std::string&) {
        ++asked;
        other.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
        other.reset();
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    EXPECT_EQ(status_of(infer(*model)), 502);
    EXPECT_EQ(asked, 1);
}

TEST_F(upstream, a_server_that_computes_and_then_closes_a_kept_connection_is_asked_once) {
    for (const int computing_ms : {0, 20, 400}) {
        std::atomic<int> asked{0};
        model_server server([&](peer& other, const std::string&) {
            other.send(answer_of("200 OK", "kept"));
            if (other.read_request().empty()) return;
            ++asked;
            // The server's own time, not a wait for something.
            std::this_thread::sleep_for(std::chrono::milliseconds(computing_ms));
        });
        const auto model = load(server.url());
        ASSERT_TRUE(model);
        ASSERT_EQ(status_of(infer(*model)), 200);
        const int kept = server.connections();
        const auto response = infer(*model);
        EXPECT_EQ(status_of(response), 502) << computing_ms;
        EXPECT_EQ(asked, 1) << computing_ms;
        EXPECT_EQ(server.connections(), kept) << computing_ms;
    }
}

TEST_F(upstream, a_server_that_cannot_have_read_a_prediction_on_a_kept_connection_is_asked_again) {
    std::atomic<bool> is_second{false};
    model_server server(
        [&](peer& other, const std::string&) {
            other.send(answer_of("200 OK", "first"));
            const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
            while (!is_second && std::chrono::steady_clock::now() < until) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(600));  // does not read, and then closes
        },
        4096);
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    ASSERT_EQ(status_of(infer(*model)), 200);
    const int kept = server.connections();
    is_second = true;
    // Fits into what the kernel of the sender takes, not into what the other offers.
    body_request large = default_request();
    large.body = std::string(200'000, 'x');
    const auto begin = std::chrono::steady_clock::now();
    const auto response = infer(*model, large);
    const auto took = std::chrono::steady_clock::now() - begin;
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "first") << "what is sent again meets the first answer of the script";
    EXPECT_EQ(server.connections() - kept, 1);
    EXPECT_GE(took, std::chrono::milliseconds(100)) << "it began on a new connection";
}

TEST_F(upstream, many_are_asked_at_once_and_each_is_answered_once) {
    model_server server([](peer& other, const std::string& first) {
        for (std::string request = first; !request.empty(); request = other.read_request())
            other.send(answer_of("200 OK", request.substr(request.find("\r\n\r\n") + 4)));
    });
    const auto model = load(server.url());
    ASSERT_TRUE(model);
    constexpr int asked = 200;
    std::atomic<int> right{0}, wrong{0};
    std::promise<void> all;
    for (int i = 0; i < asked; ++i) {
        body_request each = default_request();
        each.body = std::to_string(i);
        each.deadline_ms = runtime::system_clock().steady_ms() + 20'000;
        model->bodies->infer(std::move(each), [&, i](result<body_response> out) {
            ++(out && out->body == std::to_string(i) ? right : wrong);
            if (right + wrong == asked) all.set_value();
        });
    }
    ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(right, asked);
}

TEST_F(upstream, a_server_that_hangs_leaves_the_others_their_connections_and_its_health_is_still_seen) {
    model_server hung([](peer& other, const std::string&) { other.hang(); });
    model_server well_server([](peer& other, const std::string&) { other.send(answer_of("200 OK", "x")); });
    const auto hung_model = load(hung.url());
    const auto well_model = load(well_server.url());
    ASSERT_TRUE(hung_model && well_model);
    std::promise<int> refused;
    std::atomic<int> answered{0};
    for (std::size_t i = 0; i < limits::upstream_connections_to_one_max + 1; ++i)
        loops[0].post([&] {
            body_request request = default_request();
            request.deadline_ms = runtime::system_clock().steady_ms() + 60'000;
            hung_model->bodies->infer(std::move(request), [&](const result<body_response>& out) {
                if (answered++ == 0) refused.set_value(status_of(out));
            });
        });
    auto first = refused.get_future();
    ASSERT_EQ(first.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "none was refused";
    EXPECT_EQ(first.get(), 503);
    EXPECT_EQ(answered, 1) << "the others are still asked";
    EXPECT_EQ(status_of(infer(*well_model)), 200);
    EXPECT_TRUE(load(hung.url())) << "a health check was refused a connection";
    EXPECT_EQ(answered, 1);
    // What hangs answers to variables of this test.
    loops.stop();
    engines.reset();
}

TEST_F(upstream, an_address_that_is_not_allowed_is_never_connected_to) {
    model_server server([](peer& other, const std::string&) { other.send(answer_of("200 OK", "x")); });
    engines = engine_for("");
    const auto by_address = load(server.url());
    ASSERT_FALSE(by_address);
    EXPECT_EQ(by_address.error().code, error_code::invalid_argument);
    EXPECT_EQ(server.connections(), 0);
}

TEST_F(upstream, a_build_is_loaded_only_when_its_server_is_healthy) {
    std::atomic<int> looks{0};
    receiver server([&](peer& other) {
        while (!other.read_request().empty())
            other.send(++looks < 3 ? std::string_view("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n")
                                   : healthy);
    });
    ASSERT_TRUE(load(server.location()));
    EXPECT_EQ(looks, 3);
}

TEST_F(upstream, a_connection_is_enough_without_a_health_path) {
    receiver server([](peer& other) {
        while (!other.read_request().empty()) other.send("HTTP/1.1 405 No\r\n\r\n");
    });
    EXPECT_TRUE(load(server.location(), ""));
}

TEST_F(upstream, a_url_that_cannot_be_is_refused_at_once) {
    for (const char* bad : {"", "ftp://a/", "http://", "http://a b/", "127.0.0.1:80"}) {
        const auto out = load(bad);
        ASSERT_FALSE(out) << bad;
        EXPECT_EQ(out.error().code, error_code::invalid_argument) << bad;
    }
    EXPECT_FALSE(load("http://127.0.0.1:1/", "no slash"));
}

}  // namespace
}  // namespace herald::test
