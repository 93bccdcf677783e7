// herald api, herald worker, herald init: the processes of an installation on Kafka.
#include <iostream>

#include "api/operator_endpoints.hpp"
#include "composition.hpp"
#include "runtime/clock.hpp"
#include "stop_signal.hpp"
#include "storage/node/genesis.hpp"

namespace herald {
namespace {

/// What every process on Kafka stands on: the log, begun with this key ring.
struct cluster_ground {
    runtime::key_ring keys;
    std::unique_ptr<events::log> log;
};

result<cluster_ground> open_ground(const settings& chosen) {
    auto keys = runtime::key_ring::load(chosen.key_ring);
    if (!keys) return keys.error();
    auto log = open_kafka(chosen);
    if (!log) return log.error();
    const auto genesis = storage::read_genesis(**log, *keys);
    if (!genesis && genesis.error().code == error_code::not_found)
        return runtime::not_found("this Kafka holds no Herald installation under the prefix \"" +
                                  chosen.topic_prefix + "\"; run `herald init` first");
    if (!genesis) return genesis.error();
    return cluster_ground{*std::move(keys), *std::move(log)};
}

}  // namespace

process_end run_api(const settings& chosen) {
    stop_signal stop;
    if (const auto made = make_folder(chosen); !made) return failed(made.error());
    const auto ground = open_ground(chosen);
    if (!ground) return failed(ground.error());
    auto node = make_api_node(chosen, {*ground->log, ground->keys}, stop.requester(),
                              [] { return std::optional<runtime::trouble>(); });
    if (!node) return failed(node.error());
    const process_end end = stop.wait();
    (*node)->drain();
    return end;
}

process_end run_worker(const settings& chosen) {
    stop_signal stop;
    const auto ground = open_ground(chosen);
    if (!ground) return failed(ground.error());
    auto worker = make_worker_node(chosen, {*ground->log, ground->keys}, stop.requester());
    if (!worker) return failed(worker.error());
    runtime::event_loops loops({.loops = 1, .cores = {}, .blocking_threads = 1});
    const auto service =
        api::make_operator_service([&worker = **worker] { return api::report_of(worker.trouble()); });
    std::unique_ptr<api::server> server;
    if (chosen.listen) {
        api::server_options options;
        options.address = chosen.listen->address;
        options.port = chosen.listen->port;
        options.log = api::request_log::off;
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
    const auto keys = runtime::key_ring::load_or_create(chosen.key_ring, runtime::system_random());
    if (!keys) return failed(keys.error());
    const auto log = open_kafka(chosen);
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    const storage::genesis_options options = genesis_options_of(chosen);
    const auto nothing = storage::make_memory_state();
    const auto begun = storage::begin_log(**log, *keys, options, *nothing->view(), runtime::system_random(),
                                          runtime::system_clock());
    if (!begun) return failed(begun.error());
    if (!begun->is_new) {
        std::cerr << "herald: this installation was begun before; nothing was changed (a lost key: herald "
                     "admin-key)\n";
        return process_end::failure;
    }
    std::cout << "email " << options.admin_email << "\nkey " << options.admin_key << "\n";
    return process_end::done;
}

}  // namespace herald
