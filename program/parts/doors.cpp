#include "program/parts/doors.hpp"

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

result<std::unique_ptr<door>> door::open(runtime::http::server::server_options options,
                                         runtime::event_loops& loops,
                                         std::unique_ptr<runtime::http::server::request_handler> starting) {
    std::unique_ptr<door> made(new door);
    made->x_starting = std::move(starting);
    auto server = runtime::http::server::make_server(std::move(options), *made->x_starting, loops);
    if (!server) return server.error();
    made->x_server = *std::move(server);
    made->x_server->start();
    return made;
}

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
