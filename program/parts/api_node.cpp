// An API node, assembled: log → registry → artifacts, serving, deliveries → handlers → server.
#include "program/parts/api_node.hpp"

#include <future>
#include <iostream>

#include "api/console/services.hpp"
#include "api/deployment/services.hpp"
#include "api/operations/operator_endpoints.hpp"
#include "api/operations/services.hpp"
#include "api/predictions/prediction_document.hpp"
#include "api/predictions/prediction_service.hpp"
#include "api/registry/services.hpp"
#include "api/service.hpp"
#include "api/webhooks/services.hpp"
#include "events/log/clock_of_log.hpp"
#include "events/log/topics.hpp"
#include "program/options/limits.hpp"
#include "program/parts/append_command.hpp"
#include "program/parts/artifact_check.hpp"
#include "program/parts/artifacts_part.hpp"
#include "program/parts/deliveries_part.hpp"
#include "program/parts/doors.hpp"
#include "program/parts/registry_part.hpp"
#include "program/parts/run_and_wait.hpp"
#include "program/parts/serving_part.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "runtime/version.hpp"
#include "storage/backup/backup_desk.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/node/genesis.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node_metrics.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::program {
namespace {

class composed_api_node final : public api_node {
  public:
    composed_api_node(const settings& chosen, api_node_parts parts, end_request end, trouble_source beside,
                      start_report& report)
        : x_chosen(chosen),
          x_parts(parts),
          x_end(std::move(end)),
          x_beside(std::move(beside)),
          x_report(report),
          x_folder(folder_of(chosen)) {}

    ~composed_api_node() override {
        run_and_wait(x_jobs[0], [this] { x_artifacts.leave(); });
        x_metrics_source.reset();
        if (x_parts.doors.metrics) x_parts.doors.metrics->close();
        x_parts.doors.main->close();
        x_deliveries.stop_reading();
        x_artifacts.end();
        if (x_serving) x_serving->end();
        x_deliveries.end();
        x_backups.reset();
        x_registry.end();
        x_jobs.stop();
        x_parts.attempts.stop();
        x_loops.stop();
    }

    /// Errors: as make_api_node.
    result<void> start() {
        x_report.say("it opens the state database");
        if (const auto opened = x_registry.open_state(x_report); !opened) return opened;
        if (const auto opened = x_deliveries.open_history(x_folder / "deliveries"); !opened) return opened;
        x_report.say("it looks whose the store of artifacts is");
        if (const auto ours = x_artifacts.open(x_registry); !ours) return ours;
        auto serving =
            serving_part::make(x_chosen, x_folder / "models",
                               {x_registry.state(), x_artifacts.store(), x_loops, x_jobs[0], x_time});
        if (!serving) return serving.error();
        x_serving = *std::move(serving);
        if (const auto begun = begin_parts(); !begun) return begun;
        make_services();
        open_doors();
        x_metrics_source = runtime::add_metrics_source([this] { show_metrics(); });
        if (const auto reading = x_deliveries.read_attempts(x_registry); !reading) return reading;
        if (!is_on_kafka(x_chosen))
            if (const auto set = set_webhooks_by(); !set) return set;
        x_registry.node().start();
        run_and_wait(x_jobs[0], [this] {
            x_artifacts.watch(x_registry, [this](const result<void>& checked) { store_is_judged(checked); });
        });
        return {};
    }

    void drain() override {
        x_is_draining = true;
        x_serving->let_off();  // an impatient operator may kill the process in what follows
        const bool is_answered =
            x_parts.doors.main->drain(limits::drain_ms_max - limits::drain_commands_ms_max -
                                      limits::drain_answers_ms_max - limits::drain_worker_ms_min);
        x_is_drained = true;
        std::promise<void> done;
        const auto drained = [&] { done.set_value(); };
        if (is_on_kafka(x_chosen))
            x_serving->drain(x_registry.node(), drained);
        else
            x_registry.node().drain(drained);
        done.get_future().wait();
        if (is_answered) return;
        x_deliveries.triggers().close();
        x_parts.doors.main->drain(limits::drain_answers_ms_max);  // every waiting caller has an answer now
    }

  private:
    result<void> begin_parts() {
        x_registry.make_node([this](auto& options) { x_serving->describe(options); });
        x_serving->begin(x_registry.node());
        x_artifacts.add_collector(x_registry);
        x_backups = storage::backup::make_backup_desk(
            {x_registry.state(), x_parts.log, backups_folder(x_chosen), runtime::system_clock(),
             [this] { return x_registry.is_disk_low(); }, make_artifact_check(x_artifacts.store())});
        return x_deliveries.begin(x_registry);
    }

    /// A standalone follows its option at each start; in a cluster `herald init` sets it. What the log holds
    /// behind the state may be another value: then the command comes behind that.
    result<void> set_webhooks_by() {
        namespace tables = storage::registry::tables;
        const auto wanted = x_chosen.installation.webhooks_by.value_or(schemas::webhooks_by::system_admins);
        const auto view = x_registry.state().view();
        const auto position = tables::positions::find(*view);
        const auto range =
            storage::backup::range_of(x_parts.log, {std::string(events::log::topic::commands), 0});
        if (!range) return range.error();
        const std::uint64_t next = position ? position->next_offset : 1;  // GENESIS sets nothing
        const bool is_behind = static_cast<std::uint64_t>(range->next) > next;
        if (!is_behind && tables::installation_settings::find(*view).webhooks_by == wanted) return {};
        return append_webhooks_by(x_parts.log, x_parts.beginning, wanted);
    }

    /// On the loop of the jobs. Uploads find out by themselves when another log has taken the store; then
    /// this node ends, too.
    void store_is_judged(const result<void>& checked) {
        if (!checked) return refuse(checked.error());
        if (const auto whole = storage::node::check_secrets(*x_registry.state().view(), x_parts.keys); !whole)
            return refuse(whole.error());
        x_artifacts.transfers().is_store_checked = true;
        log_that_it_serves();
    }

    void refuse(const error& why) {
        std::cerr << "herald: " << why.message << "\n";
        x_end(process_end::mismatch);
    }

    void make_services() {
        x_of_registry.emplace(
            api::registry::services{x_artifacts.store(), x_artifacts.transfers(), x_deliveries.history()});
        x_of_deployment.emplace(api::deployment::services{
            x_artifacts.store(), x_artifacts.transfers(), is_on_kafka(x_chosen), x_serving->quiescing(),
            [this](schemas::build_id build, const schemas::batching_settings& batching) {
                return x_serving->serving().why_not_loaded({build, batching});
            }});
        x_of_webhooks.emplace(api::webhooks::services{x_deliveries.triggers(), x_deliveries.history(),
                                                      x_deliveries.sender(), x_deliveries.replays(),
                                                      x_chosen.transport.http, x_chosen.transport.policy});
        x_of_operations.emplace(api::operations::services{*x_backups, x_registry.taker()});
        if (!is_on_kafka(x_chosen)) x_of_console.codes = &x_sign_in_codes;
        x_services.emplace(api::calls::services{
            x_registry.node(),
            x_parts.keys,
            runtime::system_random(),
            x_time,
            x_deliveries.reads(),
            {&*x_of_registry, &*x_of_deployment, &*x_of_webhooks, &*x_of_operations, &x_of_console},
            {x_chosen.public_url, scheme()}});
    }

    using ready_for = api::calls::ready_for;

    api::calls::readiness_report report(ready_for what) {
        return api::operations::report_of(x_registry.node().state_now(), trouble_beside(what), what);
    }

    /// Why this process is not ready although its node is. Reads need no deliveries.
    std::optional<runtime::trouble> trouble_beside(ready_for what = ready_for::everything) const {
        namespace reason = runtime::not_ready_reason;
        if (x_is_draining) return runtime::trouble{reason::draining, "this node is shutting down"};
        if (what == ready_for::everything)
            if (auto beside = x_beside()) return beside;
        if (!x_artifacts.is_checked())
            return runtime::trouble{reason::starting, "the store of artifacts has not been checked yet"};
        return x_serving->trouble();
    }

    void log_that_it_serves() {
        const std::string address = x_chosen.listen->address;
        const bool is_v6 = address.find(':') != std::string::npos;
        log_that_it_runs(runtime::log_events::serving, x_chosen,
                         scheme() + "://" + (is_v6 ? "[" + address + "]" : address) + ":" +
                             std::to_string(x_parts.doors.main->port()));
    }

    std::string scheme() const { return x_chosen.server.tls_certificate_file.empty() ? "http" : "https"; }

    void show_metrics() { x_metrics.show(x_registry.node().state_now(), trouble_beside()); }

    /// From now on the node itself tells callers what it still lacks.
    void open_doors() {
        api::service_options options;
        const api::calls::readiness ready = [this](ready_for what) { return report(what); };
        options.ready = ready;
        if (x_chosen.metrics_listen) options.table = api::routes::all_routes(api::routes::metrics_here::no);
        options.beside_table = api::predictions::document_part();
        x_service = api::make_service(*x_services, x_loops, std::move(options));
        api::serving::serving& serving = x_serving->serving();
        x_prediction_service = api::predictions::make_prediction_service(
            {serving.book(), serving.gate(), serving.log(), x_registry.node(), x_loops, is_on_kafka(x_chosen),
             std::string(runtime::version()), x_is_draining, x_is_drained, x_chosen.predictions.are_served},
            *x_service);
        x_parts.doors.main->lead_to(*x_prediction_service);
        if (!x_parts.doors.metrics) return;
        x_operator_service = api::make_operator_service(ready);
        x_parts.doors.metrics->lead_to(*x_operator_service);
    }

    const settings& x_chosen;
    const api_node_parts x_parts;
    const end_request x_end;
    const trouble_source x_beside;
    start_report& x_report;
    const std::filesystem::path x_folder;
    const events::log::clock_of_log x_time{x_parts.log, runtime::system_clock()};
    std::atomic<bool> x_is_draining = false;
    std::atomic<bool> x_is_drained = false;
    runtime::event_loops& x_loops = x_parts.doors.loops;
    runtime::event_loops& x_jobs = x_parts.jobs;  // heartbeats, publisher, health
    registry_part x_registry{x_chosen, x_parts, x_end};
    artifacts_part x_artifacts{x_chosen, x_parts};
    deliveries_part x_deliveries{x_parts};
    std::unique_ptr<serving_part> x_serving;
    std::unique_ptr<storage::backup::backup_desk> x_backups;
    std::optional<api::registry::services> x_of_registry;
    std::optional<api::deployment::services> x_of_deployment;
    std::optional<api::webhooks::services> x_of_webhooks;
    std::optional<api::operations::services> x_of_operations;
    api::console::sign_in_codes x_sign_in_codes{runtime::system_random(), runtime::system_clock()};
    api::console::services x_of_console;
    std::optional<api::calls::services> x_services;
    std::unique_ptr<runtime::http::server::request_handler> x_service;
    std::unique_ptr<runtime::http::server::request_handler> x_prediction_service;
    std::unique_ptr<runtime::http::server::request_handler> x_operator_service;
    storage::node::node_metrics x_metrics;
    runtime::metrics_source x_metrics_source;
};

}  // namespace

result<std::unique_ptr<api_node>> make_api_node(const settings& chosen, api_node_parts parts, end_request end,
                                                trouble_source beside, start_report& report) {
    auto node = std::make_unique<composed_api_node>(chosen, parts, std::move(end), std::move(beside), report);
    if (const auto started = node->start(); !started) return started.error();
    return std::unique_ptr<api_node>(std::move(node));
}

}  // namespace herald::program
