#include "workers/http_transport.hpp"

#include <string>
#include <utility>

namespace herald::workers {

namespace {

namespace client = runtime::http::client;
using schemas::delivery_error;

delivery_error error_of(client::failure failed) {
    switch (failed) {
        case client::failure::none:
            return delivery_error::none;
        case client::failure::address_not_allowed:
            return delivery_error::address_not_allowed;
        case client::failure::dns:
            return delivery_error::dns;
        case client::failure::connect:
            return delivery_error::connect;
        case client::failure::tls:
            return delivery_error::tls;
        case client::failure::timeout:
            return delivery_error::timeout;
        case client::failure::write:
        case client::failure::request_body:  // never happens: the body of a delivery is in memory as a whole
            return delivery_error::write;
        case client::failure::protocol:
            break;
    }
    return delivery_error::protocol;
}

client::request request_of(delivery_request delivery) {
    client::request asked;
    asked.method = runtime::http::http_method::post;
    asked.location = std::move(delivery.location);
    asked.pool_key = "webhooks";
    asked.headers = std::move(delivery.headers);
    asked.body = std::move(delivery.body);
    asked.deadline_ms = delivery.deadline_ms;
    asked.connect_ms_max = delivery.connect_ms_max;
    return asked;
}

delivery_answer answer_of(client::answer given) {
    delivery_answer answer;
    answer.status = given.status;
    answer.headers = std::move(given.headers);
    answer.body = std::move(given.body);
    answer.error = error_of(given.failed);
    answer.message = std::move(given.message);
    answer.refused_for_good = given.refused_for_good;
    answer.own_shortage = given.own_shortage || given.location_is_full;
    answer.answer_ms = given.answer_ms;
    answer.address = std::move(given.address);
    answer.times = given.times;
    if (answer.error == delivery_error::none && *answer.status / 100 != 2) {
        answer.error = delivery_error::status;
        answer.message = "answered " + std::to_string(*answer.status);
    }
    return answer;
}

class handle final : public attempt_handle {
  public:
    explicit handle(std::unique_ptr<client::exchange> exchange) : x_exchange(std::move(exchange)) {}
    bool on_the_wire() const noexcept override { return x_exchange->on_the_wire(); }

  private:
    std::unique_ptr<client::exchange> x_exchange;
};

class http_transport final : public transport {
  public:
    explicit http_transport(std::unique_ptr<client::client> sender) : x_client(std::move(sender)) {}

    std::unique_ptr<attempt_handle> post(delivery_request request, callback call_back) override {
        auto pass_on = [call_back = std::move(call_back)](client::answer given) {
            call_back(answer_of(std::move(given)));
        };
        return std::make_unique<handle>(x_client->start(request_of(std::move(request)), std::move(pass_on)));
    }

  private:
    std::unique_ptr<client::client> x_client;
};

}  // namespace

std::unique_ptr<transport> make_http_transport(boost::asio::io_context& io, http_transport_options options) {
    return std::make_unique<http_transport>(client::make_client(io, std::move(options)));
}

}  // namespace herald::workers
