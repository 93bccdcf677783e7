// What the operator says, as values that can be used: each part of Herald has its own options here, and gets
// them as they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "events/log/kafka/kafka_log.hpp"
#include "runtime/http/server/server.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/node/genesis.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node.hpp"
#include "workers/http_transport.hpp"
#include "workers/worker.hpp"

namespace herald::program {

struct endpoint {
    std::string address;  // literal, IPv4 or IPv6
    std::uint16_t port = 0;
};

/// Filled and checked by the table of options (options.hpp). What an option cannot say (callbacks, shares of
/// the machine) is added where the part is made.
struct settings {
    std::string config_file;
    std::filesystem::path data;
    std::filesystem::path key_ring;  // as given; which file is meant says key_ring_file()
    std::optional<endpoint> listen;  // a worker that was told none serves no HTTP
    std::optional<endpoint> metrics_listen;
    std::string public_url;  // where callers find the node; empty: where each request says that it did
    runtime::http::server::server_options server;  // of every address that is served
    events::log::kafka::kafka_options kafka;
    storage::embedded_log::embedded_log_options embedded_log;
    storage::node::genesis_options installation;
    storage::node::registry_node::options node;
    workers::worker_options worker;
    workers::http_transport_options transport;
    std::string allowed_addresses;  // of the transport's policy, as they were given
    std::uint64_t free_disk_bytes_min = limits::free_disk_bytes_min;
    bool verify = false;
    bool reset_groups = false;
    std::uint64_t at_offset = 0;  // state-hash: the next offset; 0: the end of the log
};

/// Whether the installation is on Kafka; else its log is embedded, on this machine.
inline bool is_on_kafka(const settings& chosen) { return !chosen.kafka.bootstrap_servers.empty(); }
/// Where Herald's own files are.
inline std::filesystem::path folder_of(const settings& chosen) { return chosen.data / "herald"; }
/// The one that was named, or the one that a standalone makes.
inline std::filesystem::path key_ring_file(const settings& chosen) {
    return chosen.key_ring.empty() ? folder_of(chosen) / "key-ring" : chosen.key_ring;
}

}  // namespace herald::program
