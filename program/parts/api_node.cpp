// An API node, assembled: log → node (applier, publisher, jobs) → handlers → server.
#include "program/parts/api_node.hpp"

#include <fstream>
#include <iostream>

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
#include "program/parts/artifact_check.hpp"
#include "program/parts/doors.hpp"
#include "program/parts/open_artifacts.hpp"
#include "program/parts/predictions.hpp"
#include "program/parts/run_and_wait.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "storage/artifacts/collector/collector_job.hpp"
#include "storage/artifacts/collector/store_check.hpp"
#include "storage/artifacts/directory_store.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/backup/backup_desk.hpp"
#include "storage/deliveries/attempts_reader.hpp"
#include "storage/deliveries/read_events.hpp"
#include "storage/deliveries/trigger_calls.hpp"
#include "storage/deliveries/webhook_health_job.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/genesis.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node.hpp"
#include "storage/node/node_metrics.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "storage/snapshots/snapshot_files.hpp"
#include "storage/snapshots/snapshot_job.hpp"

namespace herald::program {
namespace {

constexpr std::int64_t announce_interval_ms = 20;
constexpr std::int64_t store_check_interval_ms = 1'000;  // of a store that does not answer
constexpr std::int64_t store_watch_interval_ms = 10'000;

process_end end_for(storage::node::node_failure::kind what) {
    switch (what) {
        case storage::node::node_failure::kind::log_mismatch:
        case storage::node::node_failure::kind::log_mixed:
        case storage::node::node_failure::kind::level_too_low:
            return process_end::mismatch;
        case storage::node::node_failure::kind::state_unreadable:
            return process_end::reopen;
        default:
            return process_end::failure;
    }
}

/// The node's name: as given, or random and stored with the data, so that a restart is the same node.
std::string node_name(const settings& chosen, const std::filesystem::path& folder) {
    if (!chosen.node.name.empty()) return chosen.node.name;
    const std::filesystem::path file = folder / "node-id";
    std::string name;
    std::ifstream(file) >> name;
    if (name.empty()) {
        name = runtime::uuid_text(runtime::system_random().uuid());
        std::ofstream(file) << name << "\n";
    }
    return name;
}

/// Beside the artifacts, if they are in a folder, so that in a cluster a new node begins with what another
/// has taken.
std::filesystem::path snapshots_folder(const settings& chosen) {
    if (is_on_kafka(chosen) && !are_in_a_bucket(chosen)) return artifacts_folder(chosen) / "snapshots";
    return folder_of(chosen) / "snapshots";
}

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
        run_and_wait(x_jobs[0], [this] { x_is_ending = true; });
        x_metrics_source.reset();
        if (x_parts.doors.metrics) x_parts.doors.metrics->close();
        x_parts.doors.main->close();
        run_and_wait(x_parts.attempts[0], [this] { x_attempts.reset(); });
        if (x_collector) x_collector->end();
        if (x_store_check) x_store_check->end();
        if (x_predictions) x_predictions->end();
        x_triggers.reset();
        x_reads.reset();
        x_health.reset();
        x_collector.reset();
        x_backups.reset();
        x_node.reset();
        x_taker.reset();
        x_jobs.stop();
        x_parts.attempts.stop();
        x_loops.stop();
    }

    /// Errors: as make_api_node.
    result<void> start() {
        x_report.say("it opens the state database");
        if (const auto opened = open_state(); !opened) return opened;
        auto deliveries = storage::deliveries::open_delivery_history(x_folder / "deliveries",
                                                                     x_parts.descriptors.database_files);
        if (!deliveries) return deliveries.error();
        x_deliveries = *std::move(deliveries);
        auto artifacts = open_artifacts(x_chosen, {x_artifact_reads, x_artifact_calls});
        if (!artifacts) return artifacts.error();
        x_artifacts = *std::move(artifacts);
        x_report.say("it looks whose the store of artifacts is");
        if (const auto ours = check_store(); !ours) return ours;
        auto predicting = predictions::make(x_chosen, x_folder / "models",
                                            {*x_store, *x_artifacts, x_loops, x_jobs[0], x_time});
        if (!predicting) return predicting.error();
        x_predictions = *std::move(predicting);
        if (const auto made = make_registry(); !made) return made;
        open_doors();
        x_metrics_source = runtime::add_metrics_source([this] { show_metrics(); });
        if (const auto reading = read_attempts(); !reading) return reading;
        x_node->start();
        run_and_wait(x_jobs[0], [this] { announce(); });
        return {};
    }

    void drain() override {
        x_is_draining = true;
        x_predictions->let_off();  // whoever loses patience with what follows kills the process
        const bool is_answered =
            x_parts.doors.main->drain(limits::drain_ms_max - limits::drain_commands_ms_max -
                                      limits::drain_answers_ms_max - limits::drain_worker_ms_min);
        x_is_drained = true;
        std::promise<void> done;
        const auto drained = [&] { done.set_value(); };
        if (is_on_kafka(x_chosen))
            x_predictions->drain(*x_node, drained);
        else
            x_node->drain(drained);
        done.get_future().wait();
        if (is_answered) return;
        x_triggers->close();
        x_parts.doors.main->drain(limits::drain_answers_ms_max);  // every waiting caller has an answer now
    }

  private:
    result<void> open_state() {
        auto opened =
            storage::rocks::open_rocks_state(x_folder / "state", x_parts.descriptors.database_files);
        if (!opened) return opened.error();
        x_store = std::move(opened->store);
        if (!storage::registry::tables::positions::find(*x_store->view()) &&
            !std::exchange(x_has_looked, true)) {
            const auto loaded = load_snapshot();
            if (!loaded) return loaded.error();
            return open_state();
        }
        if (x_chosen.verify) {
            try {
                x_store->verify();
            } catch (const storage::registry::state::state_corrupt&) {
                x_store.reset();
                return open_state();  // the state is marked: this open starts empty
            }
        }
        return {};
    }

    /// A new state begins with a copy of an earlier one, if there is one.
    result<void> load_snapshot() {
        x_report.say("it looks for a snapshot to begin with, and copies it");
        x_store.reset();
        std::error_code failure;
        std::filesystem::remove_all(x_folder / "state", failure);
        const auto loaded = storage::snapshots::load_newest(*x_snapshots, x_parts.beginning.log_id,
                                                            x_parts.beginning.generation, x_folder / "state");
        if (!loaded) return loaded.error();
        return {};
    }

    using store_check = storage::artifacts::collector::store_check;

    /// What this node has applied before may say already that the store is another log's.
    result<void> check_store() {
        x_store_check.emplace(store_check::parts{*x_artifacts, *x_store, x_jobs[0]},
                              x_chosen.artifacts_taking);
        std::promise<result<void>> checked;
        x_jobs[0].post([&] {
            x_store_check->run(store_check::applied::some,
                               [&](result<void> outcome) { checked.set_value(std::move(outcome)); });
        });
        return checked.get_future().get();
    }

    /// Now that all of the log is applied. Until then there are no uploads.
    void check_store_again() {
        x_store_check->run(store_check::applied::all, [this](const result<void>& checked) {
            if (x_is_ending) return;
            if (checked) {
                if (const auto whole = storage::node::check_secrets(*x_store->view(), x_parts.keys); !whole)
                    return refuse(whole.error());
                x_transfers.is_store_checked = true;
                watch_store();
                return log_that_it_serves();
            }
            if (checked.error().code == error_code::failed_precondition) return refuse(checked.error());
            x_jobs[0].run_at(x_jobs[0].time().steady_ms() + store_check_interval_ms, [this] { announce(); });
        });
    }

    void refuse(const error& why) {
        std::cerr << "herald: " << why.message << "\n";
        x_end(process_end::mismatch);
    }

    /// Uploads find out by themselves when another log has taken the store; then this node ends, too.
    void watch_store() {
        x_jobs[0].run_at(x_jobs[0].time().steady_ms() + store_watch_interval_ms, [this] {
            if (x_is_ending) return;
            x_store_check->run_again([this](const result<void>& still) {
                if (x_is_ending) return;
                if (!still && still.error().code == error_code::failed_precondition)
                    return refuse(still.error());
                watch_store();
            });
        });
    }

    result<void> make_registry() {
        storage::node::registry_node::options options = x_chosen.node;
        options.name = node_name(x_chosen, x_folder);
        options.kind =
            is_on_kafka(x_chosen) ? storage::node::node_kind::cluster : storage::node::node_kind::standalone;
        options.disk = &x_disk;
        x_predictions->describe(options);
        options.on_failure = [this](const storage::node::node_failure& failure) {
            std::cerr << "herald: " << failure.message << "\n";
            if (failure.what == storage::node::node_failure::kind::diverged) {
                x_store->mark_for_rebuilding(failure.message);
                x_taker->forbid();
                drop_snapshots();
            }
            if (failure.what == storage::node::node_failure::kind::log_mixed)
                x_store->mark_as_refused(failure.message);
            x_end(end_for(failure.what));
        };
        x_store->on_unreadable([this](storage::rocks::unreadable how) {
            x_end(how == storage::rocks::unreadable::corrupt ? process_end::restart : process_end::reopen);
        });
        x_store->on_reopening([this] { x_end(process_end::restart); });
        x_node =
            storage::node::make_node(options, {x_parts.log, *x_store, x_jobs[0], runtime::system_random()});
        x_predictions->begin(*x_node);
        x_health = std::make_shared<storage::deliveries::webhook_health_job>(*x_node, *x_store, x_jobs[0],
                                                                             runtime::system_random());
        x_node->add_job(schemas::job::webhook_health, x_health);
        using storage::snapshots::snapshot_job;
        x_taker = std::make_unique<storage::snapshots::snapshot_taker>(*x_store, *x_snapshots,
                                                                       [this] { return x_disk.is_low(); });
        const snapshot_job::parts copied{*x_store, *x_snapshots, *x_taker, x_jobs[0]};
        x_node->add_job(schemas::job::snapshot,
                        std::make_shared<snapshot_job>(copied, [this] { return x_disk.is_low(); }));
        x_backups = storage::backup::make_backup_desk(
            {*x_store, x_parts.log, backups_folder(x_chosen), runtime::system_clock(),
             [this] { return x_disk.is_low(); }, make_artifact_check(*x_artifacts)});
        using storage::artifacts::collector::collector_job;
        x_collector =
            std::make_shared<collector_job>(collector_job::parts{*x_node, *x_store, *x_artifacts, x_jobs[0],
                                                                 runtime::system_random(), x_artifact_reads},
                                            collector_job::times{});
        x_node->add_job(schemas::job::artifact_collector, x_collector);
        const auto partitions = x_parts.log.partitions(std::string(events::log::topic::direct));
        if (!partitions) return partitions.error();
        x_triggers = storage::deliveries::make_trigger_calls(x_parts.log, *partitions, x_jobs[0],
                                                             runtime::system_random());
        x_reads = storage::deliveries::make_read_events(x_parts.log, *partitions, runtime::system_clock(),
                                                        runtime::system_random());
        make_services();
        return {};
    }

    void make_services() {
        x_transfers.is_store_checked = false;
        x_of_registry.emplace(api::registry::services{*x_artifacts, x_transfers, *x_deliveries});
        x_of_deployment.emplace(api::deployment::services{
            *x_artifacts, x_transfers, is_on_kafka(x_chosen), x_predictions->quiescing(),
            [this](schemas::build_id build, const schemas::batching_settings& batching) {
                return x_predictions->serving().why_not_loaded({build, batching});
            }});
        x_of_webhooks.emplace(
            api::webhooks::services{*x_triggers, x_chosen.transport.http, x_chosen.transport.policy});
        x_of_operations.emplace(api::operations::services{*x_backups, *x_taker});
        x_services.emplace(
            api::calls::services{*x_node,
                                 x_parts.keys,
                                 runtime::system_random(),
                                 x_time,
                                 x_reads.get(),
                                 {&*x_of_registry, &*x_of_deployment, &*x_of_webhooks, &*x_of_operations},
                                 {x_chosen.public_url, scheme()}});
    }

    /// They may be copies of a state that the other nodes do not have.
    void drop_snapshots() {
        if (const auto names = x_snapshots->names(); names)
            for (const std::string& name : *names)
                if (const auto dropped = x_snapshots->drop(name); !dropped) return;
    }

    /// Feeds attempts to the history, to callers who wait for a test, and to the health of webhooks.
    result<void> read_attempts() {
        const auto partitions = x_parts.log.partitions(std::string(events::log::topic::attempts));
        if (!partitions) return partitions.error();
        run_and_wait(x_parts.attempts[0], [this, count = *partitions] {
            x_attempts.emplace(
                x_parts.log, count, x_parts.attempts[0], *x_deliveries,
                std::vector<storage::deliveries::attempts_reader::listener>{
                    [&calls = *x_triggers](const schemas::attempt& made) { calls.hear(made); },
                    [&health = *x_health](const schemas::attempt& made) { health.observe(made); }});
        });
        return {};
    }

    using ready_for = api::calls::ready_for;

    api::calls::readiness_report report(ready_for what) const {
        return api::operations::report_of(x_node->state_now(), trouble_beside(what), what);
    }

    /// Why this process is not ready although its node is. Reads need no deliveries.
    std::optional<runtime::trouble> trouble_beside(ready_for what = ready_for::everything) const {
        namespace reason = runtime::not_ready_reason;
        if (x_is_draining) return runtime::trouble{reason::draining, "this node is shutting down"};
        if (what == ready_for::everything)
            if (auto beside = x_beside()) return beside;
        if (!x_transfers.is_store_checked)
            return runtime::trouble{reason::starting, "the store of artifacts has not been checked yet"};
        return x_predictions->trouble();
    }

    /// Logs that it serves once that is true: when it has recognised the log and the store of artifacts as
    /// its own and has caught up.
    void announce() {
        if (x_is_ending) return;
        if (x_node->state_now().not_ready) {
            x_jobs[0].run_at(x_jobs[0].time().steady_ms() + announce_interval_ms, [this] { announce(); });
            return;
        }
        check_store_again();
    }

    void log_that_it_serves() {
        const std::string address = x_chosen.listen->address;
        const bool is_v6 = address.find(':') != std::string::npos;
        log_that_it_runs(runtime::log_events::serving, x_chosen,
                         scheme() + "://" + (is_v6 ? "[" + address + "]" : address) + ":" +
                             std::to_string(x_parts.doors.main->port()));
    }

    std::string scheme() const { return x_chosen.server.tls_certificate_file.empty() ? "http" : "https"; }

    void show_metrics() { x_metrics.show(x_node->state_now(), trouble_beside()); }

    /// Whoever comes now is told by the node what it still lacks.
    void open_doors() {
        api::service_options options;
        const api::calls::readiness ready = [this](ready_for what) { return report(what); };
        options.ready = ready;
        if (x_chosen.metrics_listen) options.table = api::routes::all_routes(api::routes::metrics_here::no);
        options.beside_table = api::predictions::document_part();
        x_service = api::make_service(*x_services, x_loops, std::move(options));
        api::serving::serving& serving = x_predictions->serving();
        x_prediction_service = api::predictions::make_prediction_service(
            {serving.book(), serving.gate(), serving.log(), *x_node, x_loops, is_on_kafka(x_chosen),
             HERALD_VERSION, x_is_draining, x_is_drained, x_chosen.predictions.are_served},
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
    bool x_is_ending = false;  // on the loop of the jobs
    storage::node::disk_guard x_disk{x_folder, x_chosen.free_disk_bytes_min};
    runtime::event_loops& x_loops = x_parts.doors.loops;
    /// They end before the loops that their calls answer to.
    runtime::blocking_pool x_artifact_calls{limits::artifact_threads, limits::artifact_calls_waiting_max};
    runtime::blocking_pool x_artifact_reads{limits::artifact_threads, limits::artifact_calls_waiting_max};
    runtime::event_loops& x_jobs = x_parts.jobs;  // heartbeats, publisher, health
    std::unique_ptr<storage::snapshots::snapshot_store> x_snapshots =
        storage::snapshots::make_snapshot_folder(snapshots_folder(x_chosen),
                                                 x_folder / "snapshot.unfinished");
    bool x_has_looked = false;  // for a snapshot to begin with
    std::unique_ptr<storage::rocks::rocks_state> x_store;
    std::unique_ptr<storage::snapshots::snapshot_taker> x_taker;
    std::unique_ptr<storage::backup::backup_desk> x_backups;
    std::unique_ptr<storage::deliveries::delivery_history> x_deliveries;
    std::unique_ptr<storage::artifacts::artifact_store> x_artifacts;
    std::unique_ptr<predictions> x_predictions;
    std::shared_ptr<storage::node::registry_node> x_node;
    std::shared_ptr<storage::deliveries::webhook_health_job> x_health;
    std::optional<store_check> x_store_check;  // on the loop of the jobs
    std::shared_ptr<storage::artifacts::collector::collector_job> x_collector;
    std::shared_ptr<storage::deliveries::trigger_calls> x_triggers;
    std::shared_ptr<storage::deliveries::read_events> x_reads;
    std::optional<storage::deliveries::attempts_reader> x_attempts;  // on the loop of attempts
    api::calls::artifact_transfers x_transfers;
    std::optional<api::registry::services> x_of_registry;
    std::optional<api::deployment::services> x_of_deployment;
    std::optional<api::webhooks::services> x_of_webhooks;
    std::optional<api::operations::services> x_of_operations;
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
