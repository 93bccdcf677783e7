// The operator's options as usable values: each part of Herald has its own options here, and gets them
// unchanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/serving/builder/limits.hpp"
#include "events/log/kafka/kafka_log.hpp"
#include "program/options/limits.hpp"
#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/server/server.hpp"
#include "storage/artifacts/s3_store.hpp"
#include "storage/artifacts/store_owner.hpp"
#include "storage/backup/restore_backup.hpp"
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

struct prediction_settings {
    bool are_served = true;
    std::optional<runtime::http::client::address_policy> upstream_policy;  // empty: that of webhooks
    std::filesystem::path onnxruntime;      // the library; empty: it is looked for
    std::uint64_t models_memory_bytes = 0;  // of all loaded ones together; 0: half of the memory
    std::uint64_t run_bytes_max = 0;        // of one while it runs; 0: an eighth of the memory
    std::uint64_t request_bytes_max = 0;  // of all requests that are read or run; 0: an eighth of the memory
    std::uint64_t model_bytes_max = limits::model_bytes_max;
    std::uint64_t logged_each = limits::predictions_for_a_log_line;
};

/// Filled and checked by the table of options (options.hpp). Whatever an option cannot express (callbacks,
/// shares of the machine) is added where the part is made.
struct settings {
    std::string config_file;
    std::filesystem::path data;
    std::filesystem::path artifacts;  // a folder, as given; artifacts_folder() says which is meant
    storage::artifacts::s3_options artifacts_bucket;  // in its place, if it names one
    storage::artifacts::store_taking artifacts_taking = storage::artifacts::store_taking::refused;
    std::filesystem::path backups;   // as given; backups_folder() says which is meant
    std::filesystem::path key_ring;  // as given; key_ring_file() says which file is meant
    std::optional<endpoint> listen;  // a worker without one serves no HTTP
    std::optional<endpoint> metrics_listen;
    std::string public_url;  // where callers find the node; empty: the address that each request names
    runtime::http::server::server_options server;  // for every address that is served
    events::log::kafka::kafka_options kafka;
    storage::embedded_log::embedded_log_options embedded_log;
    storage::node::genesis_options installation;
    storage::node::registry_node::options node;
    workers::worker_options worker;
    workers::http_transport_options transport;
    std::string allowed_addresses;  // of the transport's policy, as given
    prediction_settings predictions;
    std::uint64_t free_disk_bytes_min = limits::free_disk_bytes_min;
    bool verify = false;
    bool reset_groups = false;
    std::vector<std::string> operands;  // what the verb takes beside options, one for each of its own
    std::string public_key;             // audit: 32 bytes
    std::string log_id;                 // audit: 16 bytes; empty: of any log
    std::filesystem::path from_backup;  // init: what the installation begins with; empty: nothing
    storage::backup::restored_deliveries restored_deliveries;
    bool content_only = false;    // state-hash: of the rows that outlive the log
    std::uint64_t at_offset = 0;  // state-hash: the next offset; 0: the end of the log
};

/// Whether the installation is on Kafka; otherwise its log is embedded, on this machine.
inline bool is_on_kafka(const settings& chosen) { return !chosen.kafka.bootstrap_servers.empty(); }
/// The folder of Herald's own files.
inline std::filesystem::path folder_of(const settings& chosen) { return chosen.data / "herald"; }
/// The file that was named, or the one that a standalone creates.
inline std::filesystem::path key_ring_file(const settings& chosen) {
    return chosen.key_ring.empty() ? folder_of(chosen) / "key-ring" : chosen.key_ring;
}

/// The folder that was named, or the node's own.
inline std::filesystem::path backups_folder(const settings& chosen) {
    return chosen.backups.empty() ? folder_of(chosen) / "backups" : chosen.backups;
}
/// The folder that was named, or a standalone's own.
inline std::filesystem::path artifacts_folder(const settings& chosen) {
    return chosen.artifacts.empty() ? folder_of(chosen) / "artifacts" : chosen.artifacts;
}

}  // namespace herald::program
