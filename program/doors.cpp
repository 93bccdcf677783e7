#include "program/doors.hpp"

#include <algorithm>
#include <utility>

#include "api/operations/operator_endpoints.hpp"
#include "api/routes/routes.hpp"
#include "api/service.hpp"
#include "runtime/certificate.hpp"
#include "runtime/clock.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/metrics.hpp"
#include "runtime/own_memory.hpp"

namespace herald::program {

using runtime::http::http_method;
using runtime::http::http_response;
using runtime::http::server::request;
using runtime::http::server::request_handler;

start_report::start_report(std::string_view process) {
    runtime::metric_gauge(runtime::metrics::not_ready,
                          {{"process", process}, {"reason", runtime::not_ready_reason::starting}})
        .set(1);
}

void start_report::say(std::string what) {
    const runtime::lock_guard lock(x_mutex);
    x_what = std::move(what);
}

runtime::trouble start_report::trouble() const {
    const runtime::lock_guard lock(x_mutex);
    return {runtime::not_ready_reason::starting, x_what};
}

/// A request may meet one handler with its head and the other with its body; the first answers everybody at
/// once, and the second refuses everybody for a while longer.
class door::switched final : public request_handler {
  public:
    explicit switched(request_handler& first) : x_now(&first) {}
    void lead_to(request_handler& next) { x_now = &next; }

    bool handle_now(const request& received, http_response& out) override {
        return now().handle_now(received, out);
    }
    boost::asio::awaitable<http_response> handle(const request& received) override {
        return now().handle(received);
    }
    std::size_t body_bytes_max(const request& head) const noexcept override {
        return now().body_bytes_max(head);
    }
    bool streams_body(http_method method, std::string_view path) const noexcept override {
        return now().streams_body(method, path);
    }
    boost::asio::awaitable<std::optional<http_response>> judge(const request& head) override {
        return now().judge(head);
    }
    http_response refusal(const request& head, const error& why) const override {
        return now().refusal(head, why);
    }

  private:
    request_handler& now() const noexcept { return *x_now.load(std::memory_order_acquire); }

    std::atomic<request_handler*> x_now;
};

door::door() = default;
door::~door() { close(); }

result<std::unique_ptr<door>> door::open(runtime::http::server::server_options options,
                                         runtime::event_loops& loops,
                                         std::unique_ptr<request_handler> starting) {
    std::unique_ptr<door> made(new door);
    made->x_starting = std::move(starting);
    made->x_handler = std::make_unique<switched>(*made->x_starting);
    auto server = runtime::http::server::make_server(std::move(options), *made->x_handler, loops);
    if (!server) return server.error();
    made->x_server = *std::move(server);
    made->x_server->start();
    return made;
}

void door::lead_to(request_handler& next) { x_handler->lead_to(next); }

void door::close() { x_server.reset(); }

namespace {

std::size_t request_bytes_max(const settings& chosen) {
    if (chosen.predictions.request_bytes_max != 0) return chosen.predictions.request_bytes_max;
    if (!chosen.predictions.are_served) return limits::finished_bodies_bytes_max;
    return std::max<std::size_t>(runtime::own_memory_bytes() / 8, limits::finished_bodies_bytes_max);
}

/// Feeds the metric of how long the certificate is still valid; null without one.
runtime::metrics_source show_expiry(const std::string& file) {
    const auto at_ms = runtime::certificate_expiry_ms(file);
    if (!at_ms) return nullptr;
    return runtime::add_metrics_source([at = *at_ms] {
        runtime::metric_gauge(runtime::metrics::certificate_expiry)
            .set((at - runtime::system_clock().wall_ms()) / 1'000);
    });
}

api::calls::readiness starting_by(const start_report& report) {
    return [&report](api::calls::ready_for) -> result<api::calls::readiness_report> {
        return api::operations::report_of(report.trouble());
    };
}

}  // namespace

result<std::unique_ptr<api_doors>> api_doors::open(const settings& chosen, std::size_t clients,
                                                   runtime::event_loops& jobs, const start_report& report) {
    using api::routes::metrics_here;
    auto made = std::unique_ptr<api_doors>(
        new api_doors{.certificate = show_expiry(chosen.server.tls_certificate_file)});
    auto options = server_options_at(chosen, *chosen.listen, clients);
    options.bounds.finished_bodies_bytes = request_bytes_max(chosen);
    auto main =
        door::open(std::move(options), made->loops,
                   api::make_starting_service(starting_by(report),
                                              chosen.metrics_listen ? metrics_here::no : metrics_here::yes));
    if (!main) return main.error();
    made->main = *std::move(main);
    if (!chosen.metrics_listen) return made;
    auto metrics =
        door::open(server_options_at(chosen, *chosen.metrics_listen, limits::operator_connections_max), jobs,
                   api::make_operator_service(starting_by(report)));
    if (!metrics) return metrics.error();
    made->metrics = *std::move(metrics);
    return made;
}

result<std::unique_ptr<worker_door>> worker_door::open(const settings& chosen, const start_report& report) {
    if (!chosen.listen) return std::unique_ptr<worker_door>();
    auto options = server_options_at(chosen, *chosen.listen, limits::operator_connections_max);
    options.bounds.connections_per_address = options.bounds.connections;  // often one proxy asks for all
    options.log = runtime::http::server::request_log::off;
    auto made = std::unique_ptr<worker_door>(
        new worker_door{.certificate = show_expiry(chosen.server.tls_certificate_file)});
    const auto answer = [&report](api::calls::ready_for what) {
        return api::operations::report_of_worker(report.trouble(), what);
    };
    auto operators = door::open(std::move(options), made->loops, api::make_operator_service(answer));
    if (!operators) return operators.error();
    made->operators = *std::move(operators);
    return made;
}

}  // namespace herald::program
