// herald api, herald worker, herald init, herald groups: the processes of an installation on Kafka.
#include <iostream>

#include "api/operator_endpoints.hpp"
#include "program/composition.hpp"
#include "program/stop_signal.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/node/genesis.hpp"

namespace herald {
namespace {

/// What every process on Kafka stands on: the log, begun with this key ring.
struct cluster_ground {
    runtime::key_ring keys;
    std::unique_ptr<events::kafka::kafka_log> log;
};

/// What follows waits for the brokers: whoever looks at the log sees for which.
result<std::unique_ptr<events::kafka::kafka_log>> open_awaited(const settings& chosen) {
    runtime::log(runtime::log_level::info, runtime::log_events::kafka_waiting,
                 {{"brokers", std::string_view(chosen.kafka)}});
    return open_kafka(chosen);
}

result<cluster_ground> open_ground(const settings& chosen) {
    auto keys = runtime::key_ring::load(chosen.key_ring);
    if (!keys) return keys.error();
    auto log = open_awaited(chosen);
    if (!log) return log.error();
    const auto nothing_here = [&](const error& why) {
        if (why.code != error_code::not_found) return why;
        return runtime::not_found("this Kafka holds no Herald installation under the prefix \"" +
                                  chosen.topic_prefix + "\"; run `herald init` first");
    };
    if (const auto checked = (*log)->check_topics(); !checked) return nothing_here(checked.error());
    const auto genesis = storage::read_genesis(**log, *keys);
    if (!genesis) return nothing_here(genesis.error());
    return cluster_ground{*std::move(keys), *std::move(log)};
}

}  // namespace

process_end run_api(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    if (const auto made = make_folder(chosen); !made) return failed(made.error());
    runtime::event_loops jobs(one_loop);
    const auto ground = open_ground(chosen);
    if (!ground) return failed(ground.error());
    auto node = make_api_node(chosen, {*ground->log, ground->keys, descriptors, jobs}, stop.requester(),
                              [] { return std::optional<runtime::trouble>(); });
    if (!node) return failed(node.error());
    const process_end end = stop.wait();
    (*node)->drain();
    return end;
}

process_end run_worker(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    runtime::event_loops jobs(one_loop);
    const auto ground = open_ground(chosen);
    if (!ground) return failed(ground.error());
    ground->log->check_offsets_retention();
    auto worker = make_worker_node(chosen, {*ground->log, ground->keys, descriptors, jobs}, stop.requester());
    if (!worker) return failed(worker.error());
    runtime::event_loops loops(one_loop);
    const auto service =
        api::make_operator_service([&worker = **worker] { return api::report_of(worker.trouble()); });
    std::unique_ptr<api::server> server;
    if (chosen.listen) {
        api::server_options options;
        options.address = chosen.listen->address;
        options.port = chosen.listen->port;
        options.log = api::request_log::off;
        options.bounds.connections = options.bounds.connections_per_address =
            limits::operator_connections_max;
        auto made = api::make_server(options, *service, loops);
        if (!made) return failed(made.error());
        server = *std::move(made);
        server->start();
    }
    (*worker)->announce();
    const process_end end = stop.wait();
    (*worker)->drain();
    server.reset();  // before its loops
    return end;
}

process_end run_init(const settings& chosen) {
    // One that is no ring is refused before Kafka is asked for anything.
    const auto there = runtime::key_ring::load(chosen.key_ring);
    if (!there && there.error().code != error_code::not_found) return failed(there.error());
    const auto log = open_awaited(chosen);
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    const auto keys = ring_of(chosen.key_ring, [&]() -> result<bool> {
        const auto begun = storage::has_begun(**log);
        if (!begun) return begun.error();
        return !*begun;
    });
    if (!keys) return failed(keys.error());
    const storage::genesis_options options = genesis_options_of(chosen);
    const auto nothing = storage::make_memory_state();
    const auto begun = storage::begin_log(**log, *keys, options, *nothing->view(), runtime::system_random(),
                                          runtime::system_clock());
    if (!begun) return failed(begun.error());
    if (!begun->is_new) {
        std::cerr
            << "herald: the installation is already there; its administrator and key stay as they are (a "
               "lost key: herald admin-key)\n";
        return process_end::done;
    }
    std::cout << "email " << options.admin_email << "\nkey " << options.admin_key << "\n";
    return process_end::done;
}

process_end run_groups(const settings& chosen) {
    const auto log = open_awaited(chosen);
    if (!log) return failed(log.error());
    const auto lost = (*log)->find_lost_places();
    if (!lost) return failed(lost.error());
    if (chosen.reset_groups)
        if (const auto done = (*log)->reset(*lost); !done) return failed(done.error());
    for (const auto& [group, where, committed, there] : *lost) {
        std::cout << group << " " << where.topic << "[" << where.partition << "]: ";
        if (committed < 0)
            std::cout << "no offset, ";
        else
            std::cout << "at " << committed << ", ";
        std::cout << "the log has " << there.first << " to " << there.next;
        if (chosen.reset_groups) std::cout << "; goes on at " << there.first;
        const std::int64_t skipped_from = std::max<std::int64_t>(committed, 0);
        if (skipped_from < there.first)
            std::cout << (committed < 0 ? "; up to " : "; ") << there.first - skipped_from
                      << " records are no longer there";
        std::cout << "\n";
    }
    if (lost->empty()) std::cout << "every group knows where to go on\n";
    return lost->empty() || chosen.reset_groups ? process_end::done : process_end::failure;
}

}  // namespace herald
