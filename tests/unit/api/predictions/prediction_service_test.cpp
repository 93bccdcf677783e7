// Protects whoever sends predictions on: a node says that it is ready only while it may answer them.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include <atomic>
#include <future>

#include "api/predictions/prediction_service.hpp"
#include "api/serving/serving_gate.hpp"
#include "runtime/clock.hpp"
#include "tests/unit/api/serving/serving_parts.hpp"

namespace herald::test {
namespace {

using runtime::http::http_response;
using runtime::http::server::request;
using runtime::http::server::request_handler;

class no_others final : public request_handler {
  public:
    boost::asio::awaitable<http_response> handle(const request&) override { co_return http_response(); }
};

class server_health : public testing::Test {
  protected:
    server_health() { gate.begin(node); }
    std::uint16_t asked(std::string_view path) {
        request received;
        received.method = runtime::http::http_method::get;
        received.path = path;
        std::promise<http_response> came;
        const auto take = [&](std::exception_ptr, http_response out) { came.set_value(std::move(out)); };
        boost::asio::co_spawn(loops[0].context(), service->handle(received), take);
        return came.get_future().get().status;
    }

    runtime::manual_clock time;
    keeping_node node;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    api::serving::serving_gate gate{time};
    api::serving::route_book book{1};
    api::serving::prediction_log log{0};
    no_others others;
    std::atomic<bool> is_draining{false}, is_drained{false};
    const std::unique_ptr<request_handler> service = api::predictions::make_prediction_service(
        {book, gate, log, node, loops, false, "1", is_draining, is_drained}, others);
};

TEST_F(server_health, is_ready_once_its_models_are_loaded_and_while_it_hears_of_the_log) {
    EXPECT_EQ(asked("/v2/health/ready"), 503);
    book.set_known();
    book.set_ready();
    EXPECT_EQ(asked("/v2/health/ready"), 200);
    time.advance_ms(node.serves_until_ms() - time.steady_ms());
    EXPECT_EQ(asked("/v2/health/ready"), 503);
    EXPECT_EQ(asked("/v2/health/live"), 200);
}

}  // namespace
}  // namespace herald::test
