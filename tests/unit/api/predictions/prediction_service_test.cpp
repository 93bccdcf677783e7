// Protects whoever sends predictions on, as a node says that it is ready only while it may answer them; and
// who is answered, as each answer has the same last word (P7) and the same headers, however it came about.
#include "api/predictions/prediction_service.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <cstring>
#include <future>

#include "api/predictions/limits.hpp"
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
using runtime::http::server::plan;
using runtime::http::server::request;
using runtime::http::server::request_handler;
using testing::HasSubstr;

constexpr std::size_t room_bytes = 1'000;

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

class prediction_service : public testing::Test {
  protected:
    prediction_service() { gate.begin(node); }

    http_response answered(const request& received) {
        std::promise<http_response> came;
        plan begun;
        loops[0].post([&] {
            http_response now;
            service->begin(received, begun);
            was_answered_now = service->handle_now(received, begun, now);
            if (was_answered_now) return came.set_value(std::move(now));
            boost::asio::co_spawn(
                loops[0].context(), service->handle(received, begun),
                [&](std::exception_ptr, http_response out) { came.set_value(std::move(out)); });
        });
        return came.get_future().get();
    }
    struct asked {
        std::string body;
        std::string_view coding{};
        const runtime::http::server::peer* from = nullptr;
    };
    struct seen {
        std::uint16_t status = 0;
        std::size_t place = 0;  // in the order of the answers
    };
    /// Begins them in this order, without a pause.
    std::vector<seen> answered_together(const std::vector<asked>& all) {
        std::vector<std::vector<runtime::http::server::header_view>> headers(all.size());
        std::vector<request> requests(all.size());
        std::vector<plan> plans(all.size());
        std::vector<seen> out(all.size());
        std::size_t answers = 0;
        std::promise<void> came;
        for (std::size_t i = 0; i < all.size(); ++i) {
            headers[i] = {{"access-token", "good"}};
            if (!all[i].coding.empty()) headers[i].push_back({"content-encoding", all[i].coding});
            requests[i].method = runtime::http::http_method::post;
            requests[i].path = "/api/v1/predict/a";
            requests[i].headers = headers[i];
            requests[i].body = all[i].body;
            requests[i].from = all[i].from;
        }
        loops[0].post([&] {
            for (std::size_t i = 0; i < all.size(); ++i) {
                service->begin(requests[i], plans[i]);
                boost::asio::co_spawn(loops[0].context(), service->handle(requests[i], plans[i]),
                                      [&, i](std::exception_ptr, const http_response& answer) {
                                          out[i] = {answer.status, answers};
                                          if (++answers == all.size()) came.set_value();
                                      });
            }
        });
        came.get_future().get();
        return out;
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
        received.room = room_used;
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
        component.body_bytes_max = 100'000'000;
        component.deadline_ms = deadline_ms;
        component.in_flight_max = in_flight_max;
        component.header_lines = "svc-build-id: 7\r\n";
        component.safety = gate.safety_of(component.build);
        component.meter = canary;
        component.served = api::serving::components::without_model(component.build);
        component.served->set_model({std::move(model), nullptr}, nullptr);
        endpoint->stages.emplace_back().components.push_back(component);
        book.store(api::serving::route_table().with({{endpoint->id, endpoint}}));
        book.set_known();
    }

    const std::shared_ptr<api::serving::canary_meter> canary =
        std::make_shared<api::serving::canary_meter>(1);
    std::int64_t deadline_ms = 50;
    std::uint32_t in_flight_max = 1;
    bool was_answered_now = false;
    runtime::http::server::byte_budget room{room_bytes};
    runtime::http::server::byte_budget* room_used = &room;
    runtime::manual_clock time;
    keeping_node node;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    api::serving::serving_gate gate{time};
    api::serving::route_book book{1};
    api::serving::prediction_log log{0};
    request_handler others;
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

TEST_F(prediction_service, counts_against_a_canary_what_its_build_did_and_no_want_of_room_of_this_node) {
    deploy(std::make_shared<echoing_model>(true));
    for (const std::uint16_t status : std::array<std::uint16_t, 4>{200, 500, 502, 503})
        predicted("[3]").guard->ended(status);
    EXPECT_EQ(canary->sum().requests, 3u);
    EXPECT_EQ(canary->sum().errors_5xx, 2u);
}

TEST_F(prediction_service, counts_the_memory_of_a_request_as_long_as_its_model_keeps_it) {
    const auto model = std::make_shared<silent_tensor_model>();
    deploy(model);
    EXPECT_EQ(predicted("[3]").status, 504);
    EXPECT_FALSE(has_room_for(room_bytes)) << "nobody waits for it any more, but it is there";
    model->kept = {};
    EXPECT_TRUE(has_room_for(room_bytes));
}

TEST_F(prediction_service, refuses_for_good_what_has_no_room_alone_and_for_now_what_has_none_beside_others) {
    deadline_ms = 60'000;
    deploy(std::make_shared<echoing_model>(false));
    const std::string body = "[" + std::string(100'000, ' ') + "3]";
    const http_response never = predicted(body);
    EXPECT_EQ(never.status, 413) << never.body;
    EXPECT_THAT(never.body, HasSubstr("1000 (--requests-memory-mb)"));
    runtime::http::server::byte_budget larger(1'000'000);
    room_used = &larger;
    runtime::http::server::byte_budget::share others_share(larger);
    ASSERT_TRUE(others_share.resize(500'000));
    const http_response later = predicted(body);
    EXPECT_EQ(later.status, 429) << later.body;
    EXPECT_THAT(later.headers,
                testing::Contains(testing::Field(&runtime::http::header::name, "retry-after")));
    others_share.resize(0);
    EXPECT_EQ(predicted(body).status, 200);
    EXPECT_TRUE(runtime::http::server::byte_budget::share(larger).resize(1'000'000)) << "all was given back";
    room_used = &room;
}

/// Who keeps the one thread that reads, or writes, busy for long enough that others could come.
std::string long_request() {
    std::string out = "[0";
    for (std::size_t i = 0; i < 15'000'000; ++i) out += ",0";
    return out + "]";
}
const std::string long_response = "[2000000]";

/// It has left before it is looked at.
class gone_peer final : public runtime::http::server::peer {
  public:
    bool has_left() const noexcept override { return true; }
};

class long_bodies : public prediction_service {
  protected:
    long_bodies() {
        deadline_ms = 60'000;
        in_flight_max = 1'000;
    }
};

TEST_F(long_bodies, are_read_and_written_where_they_hold_up_nobody) {
    deploy(std::make_shared<widening_model>());
    const std::string first = long_request();
    for (const auto& [second, place] : {std::pair{asked{"[3]"}, 0u},
                                        {asked{"[3]", "identity"}, 1u},  // nobody knows how long it becomes
                                        {asked{"[" + std::string(100'000, ' ') + "3]"}, 1u}}) {
        const auto out = answered_together({{first}, second});
        EXPECT_EQ(out[0].status, 200);
        EXPECT_EQ(out[1].status, 200);
        EXPECT_EQ(out[1].place, place) << second.coding << second.body.size();
    }
    const auto out = answered_together({{long_response}, {"[100000]"}, {"[100]"}, {"[3]", "identity"}});
    EXPECT_LT(out[2].place, 2u) << "a short response";
    EXPECT_LT(out[3].place, 2u) << "who reads waits for nobody who writes";
    EXPECT_EQ(out[0].place, 2u);
    EXPECT_EQ(out[1].place, 3u) << "a long response";
}

TEST_F(long_bodies, wait_for_their_turn_no_longer_than_their_deadline_and_their_caller) {
    const gone_peer gone;
    deadline_ms = 20;
    deploy(std::make_shared<widening_model>());
    const auto out = answered_together({{long_request()}, {"[3]", "identity", &gone}, {"[3]", "identity"}});
    EXPECT_EQ(out[1].status, 408);
    EXPECT_EQ(out[1].place, 0u);
    EXPECT_EQ(out[2].status, 504);
    EXPECT_EQ(out[2].place, 1u);
    EXPECT_EQ(out[0].status, 200) << "what was begun is done";
}

TEST_F(long_bodies, of_one_endpoint_wait_up_to_half_of_the_bound_and_others_are_told_to_come_again) {
    deploy(std::make_shared<widening_model>());
    std::vector<asked> all{{long_request()}};
    constexpr std::size_t most = limits::bodies_read_beside_loops_max / 2, too_many = 7;
    for (std::size_t i = 1; i < most + too_many; ++i) all.push_back({"[3]", "identity"});
    const auto out = answered_together(all);
    const auto status_is = [](std::uint16_t status) {
        return [status](const seen& each) { return each.status == status; };
    };
    EXPECT_EQ(std::ranges::count_if(out, status_is(429)), too_many);
    EXPECT_EQ(std::ranges::count_if(out, status_is(200)), most);
    EXPECT_EQ(answered_together({{"[3]", "identity"}})[0].status, 200) << "the places were given back";
}

TEST_F(long_bodies, that_wait_when_the_node_ends_are_answered_so) {
    deploy(std::make_shared<widening_model>());
    is_drained = true;
    EXPECT_EQ(answered_together({{"[3]", "identity"}})[0].status, 503);
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
