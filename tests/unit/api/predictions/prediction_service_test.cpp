// Protects whoever sends predictions on, as a node says that it is ready only while it may answer them; and
// who is answered, as each answer has the same last word (P7) and the same headers, however it came about.
#include "api/predictions/prediction_service.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <future>
#include <thread>

#include "api/serving/components.hpp"
#include "api/serving/serving_gate.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/server/byte_budget.hpp"
#include "tests/unit/api/serving/serving_parts.hpp"

namespace herald::test {
namespace {

using api::serving::engines::tensor_model;
using api::serving::engines::tensor_request;
using api::serving::engines::tensor_response;
using runtime::http::http_response;
using runtime::http::server::request;
using runtime::http::server::request_handler;
using testing::HasSubstr;

constexpr std::size_t room_bytes = 1'000;

class no_others final : public request_handler {
  public:
    boost::asio::awaitable<http_response> handle(const request&) override { co_return http_response(); }
};

/// Its output `y` is its input `x`, INT64[1]; a negative one it refuses.
class echoing_model final : public tensor_model {
  public:
    explicit echoing_model(bool is_quick) : x_is_quick(is_quick) {
        x_signature.inputs = {{"x", schemas::tensor_type::int64, {1}}};
        x_signature.outputs = {{"y", schemas::tensor_type::int64, {1}}};
    }
    const schemas::model_signature& signature() const noexcept override { return x_signature; }
    void infer(tensor_request inference, response_handler handler) override { handler(echo(inference)); }
    bool is_quick() const noexcept override { return x_is_quick; }
    std::optional<result<tensor_response>> infer_now(const tensor_request& inference) override {
        if (!x_is_quick) return std::nullopt;
        return echo(inference);
    }
    std::uint64_t memory_bytes() const noexcept override { return 0; }

  private:
    static result<tensor_response> echo(const tensor_request& inference) {
        schemas::tensor out = inference.inputs.at(0);
        if ((static_cast<unsigned char>(out.data.back()) & 0x80) != 0)
            return runtime::invalid_argument("it is negative");
        out.name = "y";
        return std::vector{out};
    }

    const bool x_is_quick;
    schemas::model_signature x_signature;
};

/// Of one number, INT64[n], that many zeros; of several a single zero.
class widening_model final : public tensor_model {
  public:
    widening_model() {
        x_signature.inputs = {{"x", schemas::tensor_type::int64, {-1}}};
        x_signature.outputs = {{"y", schemas::tensor_type::int64, {-1}}};
    }
    const schemas::model_signature& signature() const noexcept override { return x_signature; }
    void infer(tensor_request inference, response_handler handler) override {
        const schemas::tensor& in = inference.inputs.at(0);
        std::int64_t count = 1;
        if (in.shape[0] == 1) std::memcpy(&count, in.data.data(), sizeof(count));
        schemas::tensor out;
        out.name = "y";
        out.type = schemas::tensor_type::int64;
        out.shape = {count};
        out.data.resize(static_cast<std::size_t>(count) * sizeof(count));
        handler(std::vector{out});
    }
    std::uint64_t memory_bytes() const noexcept override { return 0; }

  private:
    schemas::model_signature x_signature;
};

/// Never answers, and keeps what it was asked.
class silent_tensor_model final : public tensor_model {
  public:
    silent_tensor_model() {
        x_signature.inputs = {{"x", schemas::tensor_type::int64, {1}}};
        x_signature.outputs = x_signature.inputs;
    }
    const schemas::model_signature& signature() const noexcept override { return x_signature; }
    void infer(tensor_request inference, response_handler) override { kept = std::move(inference); }
    std::uint64_t memory_bytes() const noexcept override { return 0; }

    tensor_request kept;  // on the loop

  private:
    schemas::model_signature x_signature;
};

/// The system's; knows who looks at it.
class watched_clock final : public runtime::clock {
  public:
    std::int64_t wall_ms() const noexcept override { return runtime::system_clock().wall_ms(); }
    std::int64_t steady_ms() const noexcept override {
        if (std::this_thread::get_id() != loop_thread) ++looks_beside_loop;
        return runtime::system_clock().steady_ms();
    }

    std::thread::id loop_thread;
    mutable std::atomic<std::size_t> looks_beside_loop{0};
};

class prediction_service : public testing::Test {
  protected:
    prediction_service() {
        gate.begin(node);
        std::promise<void> known;
        loops[0].post([&] {
            loop_time.loop_thread = std::this_thread::get_id();
            known.set_value();
        });
        known.get_future().get();
    }

    http_response answered(const request& received) {
        std::promise<http_response> came;
        loops[0].post([&] {
            http_response now;
            was_answered_now = service->handle_now(received, now);
            if (was_answered_now) return came.set_value(std::move(now));
            boost::asio::co_spawn(
                loops[0].context(), service->handle(received),
                [&](std::exception_ptr, http_response out) { came.set_value(std::move(out)); });
        });
        return came.get_future().get();
    }
    /// How often something was done on another thread than the loop's, which begins by looking at the time.
    std::size_t steps_beside_loop(std::string_view body, std::string_view coding = {}) {
        std::vector<runtime::http::server::header_view> headers{{"access-token", "good"}};
        if (!coding.empty()) headers.push_back({"content-encoding", coding});
        request received;
        received.method = runtime::http::http_method::post;
        received.path = "/api/v1/predict/a";
        received.headers = headers;
        received.body = body;
        const std::size_t before = loop_time.looks_beside_loop;
        const http_response out = answered(received);
        EXPECT_EQ(out.status, 200) << out.body;
        return loop_time.looks_beside_loop - before;
    }
    std::uint16_t status_of(std::string_view path) {
        request received;
        received.method = runtime::http::http_method::get;
        received.path = path;
        return answered(received).status;
    }
    http_response predicted(std::string_view body) {
        const std::vector<runtime::http::server::header_view> headers{{"access-token", "good"}};
        request received;
        received.method = runtime::http::http_method::post;
        received.path = "/api/v1/predict/a";
        received.headers = headers;
        received.body = body;
        received.request_id = "r";
        received.room = &room;
        return answered(received);
    }
    bool has_room_for(std::size_t bytes) {
        return runtime::http::server::byte_budget::share(room).resize(bytes);
    }
    void deploy(std::shared_ptr<tensor_model> model) {
        auto endpoint = std::make_shared<api::serving::endpoint_route>();
        endpoint->path = "/a";
        endpoint->meter = std::make_shared<api::serving::endpoint_meter>("/a");
        endpoint->tokens.push_back({runtime::sha256("good"), 0});
        api::serving::component_route component;
        component.build = {7};
        component.share_ends_ppm = 1'000'000;
        component.body_bytes_max = 1'000'000;
        component.deadline_ms = deadline_ms;
        component.in_flight_max = 1;
        component.header_lines = "svc-build-id: 7\r\n";
        component.safety = gate.safety_of(component.build);
        component.served = api::serving::components::without_model(component.build);
        component.served->set_model({std::move(model), nullptr}, nullptr);
        endpoint->stages.emplace_back().components.push_back(component);
        book.store(api::serving::route_table().with({{endpoint->id, endpoint}}));
        book.set_known();
    }

    std::int64_t deadline_ms = 50;
    bool was_answered_now = false;
    runtime::http::server::byte_budget room{room_bytes};
    runtime::manual_clock time;
    keeping_node node;
    watched_clock loop_time;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}, loop_time};
    api::serving::serving_gate gate{time};
    api::serving::route_book book{1};
    api::serving::prediction_log log{0};
    no_others others;
    std::atomic<bool> is_draining{false}, is_drained{false};
    const std::unique_ptr<request_handler> service = api::predictions::make_prediction_service(
        {book, gate, log, node, loops, false, "1", is_draining, is_drained}, others);
};

TEST_F(prediction_service, is_ready_once_its_models_are_loaded_and_while_it_hears_of_the_log) {
    EXPECT_EQ(status_of("/v2/health/ready"), 503);
    book.set_known();
    book.set_ready();
    EXPECT_EQ(status_of("/v2/health/ready"), 200);
    time.advance_ms(node.serves_until_ms() - time.steady_ms());
    EXPECT_EQ(status_of("/v2/health/ready"), 503);
    EXPECT_EQ(status_of("/v2/health/live"), 200);
}

TEST_F(prediction_service, has_a_last_word_and_the_headers_for_every_answer_of_quick_models_and_of_others) {
    for (const bool is_quick : {true, false}) {
        deploy(std::make_shared<echoing_model>(is_quick));
        for (const auto& [body, status] : {std::pair{"[3]", 200}, {"[-3]", 400}, {"[", 400}}) {
            const http_response out = predicted(body);
            EXPECT_EQ(out.status, status) << body << is_quick << out.body;
            EXPECT_EQ(was_answered_now, is_quick) << body;
            EXPECT_EQ(out.head_lines, "svc-build-id: 7\r\n") << body << is_quick;
            ASSERT_TRUE(out.guard) << body << is_quick;
            EXPECT_FALSE(out.guard->instead()) << body << is_quick;
        }
        EXPECT_EQ(predicted("[3]").body, "[3]");
        EXPECT_EQ(predicted("[3]").status, 200) << "the only place in flight was given back";
    }
}

TEST_F(prediction_service, takes_back_an_answer_of_a_build_that_becomes_unsafe_before_its_first_byte) {
    deploy(std::make_shared<echoing_model>(true));
    const http_response quick = predicted("[3]");
    deploy(std::make_shared<echoing_model>(false));
    const http_response other = predicted("[3]");
    gate.set_unsafe({7}, {9});
    for (const http_response* const out : {&quick, &other}) {
        const auto instead = out->guard->instead();
        ASSERT_TRUE(instead);
        EXPECT_EQ(instead->status, 403);
        EXPECT_THAT(instead->body, HasSubstr("scan 9"));
        EXPECT_EQ(instead->head_lines, "svc-build-id: 7\r\n");
    }
    EXPECT_EQ(predicted("[3]").status, 403);
}

TEST_F(prediction_service, counts_the_memory_of_a_request_as_long_as_its_model_keeps_it) {
    const auto model = std::make_shared<silent_tensor_model>();
    deploy(model);
    EXPECT_EQ(predicted("[3]").status, 504);
    EXPECT_FALSE(has_room_for(room_bytes)) << "nobody waits for it any more, but it is there";
    model->kept = {};
    EXPECT_TRUE(has_room_for(room_bytes));
}

TEST_F(prediction_service, reads_and_writes_long_bodies_where_they_hold_up_nobody) {
    deadline_ms = 60'000;
    deploy(std::make_shared<widening_model>());
    EXPECT_EQ(steps_beside_loop("[3]"), 0u);
    EXPECT_EQ(steps_beside_loop("[3]", "identity"), 1u) << "nobody knows how long a coded one becomes";
    EXPECT_EQ(steps_beside_loop("[" + std::string(100'000, ' ') + "3]"), 1u) << "a long request";
    EXPECT_EQ(steps_beside_loop("[100000]"), 1u) << "a long response";
}

TEST_F(prediction_service, takes_back_an_answer_when_the_lease_ends_before_its_first_byte) {
    deploy(std::make_shared<echoing_model>(true));
    const http_response out = predicted("[3]");
    time.advance_ms(node.serves_until_ms() - time.steady_ms());
    const auto instead = out.guard->instead();
    ASSERT_TRUE(instead);
    EXPECT_EQ(instead->status, 503);
}

}  // namespace
}  // namespace herald::test
