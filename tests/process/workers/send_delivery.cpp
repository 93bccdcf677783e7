// usage: send_delivery LOCATION [SECRET …]
// Sends standard input as a signed delivery through the real transport and prints the status that came back.
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <iterator>
#include <string>

#include "runtime/clock.hpp"
#include "workers/delivery_headers.hpp"
#include "workers/http_transport.hpp"

int main(int count, char** words) {
    using namespace herald;
    if (count < 2) return 2;
    const std::string body(std::istreambuf_iterator<char>(std::cin), {});

    schemas::event event;
    event.id = "1-0123456789abcdef0123456789abcdef";
    event.type = schemas::event_type::promote;
    event.resource_type = schemas::resource_type::registered_model_version;
    event.resource_id = "42";
    workers::delivery_description delivery;
    delivery.id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
    delivery.time_ms = runtime::system_clock().wall_ms();
    delivery.body = body;
    delivery.secrets.assign(words + 2, words + count);
    delivery.event = &event;

    workers::http_transport_options options;
    options.http = runtime::http::client::plain_http::allowed;
    options.policy = *runtime::http::client::address_policy::parse("127.0.0.1");
    boost::asio::io_context io;
    const auto transport = workers::make_http_transport(io, options);
    workers::delivery_request request;
    request.webhook_id = {1};
    request.location = words[1];
    request.headers = workers::delivery_headers(delivery, "svc-");
    request.body = std::make_shared<const std::string>(body);
    std::uint16_t status = 0;
    const auto handle = transport->post(std::move(request), [&](const workers::delivery_answer& answer) {
        status = answer.status.value_or(0);
        std::cout << status << " " << answer.message << "\n";
        io.stop();
    });
    io.run();
    return status == 200 ? 0 : 1;
}
