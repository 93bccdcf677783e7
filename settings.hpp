// What the operator says: the command line wins, then the environment (HERALD_…), then the file given with
// --config.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/kafka/kafka_log.hpp"
#include "runtime/error.hpp"
#include "schemas/enums.hpp"
#include "workers/location.hpp"

namespace herald {

enum class verb { standalone, api, worker, init, admin_key, raise_level, state_hash, groups, version };

struct endpoint {
    std::string address;
    std::uint16_t port = 0;
};

/// Checked: what is here can be used. Options that a verb does not have are at their defaults.
struct settings {
    herald::verb verb = verb::version;
    std::filesystem::path data;
    std::optional<endpoint> listen;
    std::optional<endpoint> metrics_listen;
    std::string kafka;  // bootstrap servers
    std::vector<std::pair<std::string, std::string>> kafka_options;
    std::string topic_prefix = "herald.";
    std::int32_t replication = events::kafka::replicas_default;
    bool reset_groups = false;
    std::vector<std::string> header_prefixes = {"svc-"};
    std::filesystem::path key_ring;
    std::string admin_email;
    std::string admin_key;
    std::string organization = "default";
    std::vector<schemas::stage> require_approval_for = {schemas::stage::production};
    std::string tls_certificate;
    std::string tls_key;
    workers::address_policy addresses;
    std::string addresses_text;    // what was given
    bool addresses_named = false;  // --allow-addresses was given, if only as ''
    workers::plain_http http_locations = workers::plain_http::refused;
    bool http_named = false;  // --allow-http was given, if only as false
    std::string extra_ca_file;
    std::string dns_servers;
    std::string node_id;
    std::string reads;
    bool log_requests = true;
    bool verify = false;
    bool accept_clock = false;
    std::uint64_t free_disk_bytes_min = 0;
    std::size_t webhook_concurrency = 0;
    std::uint64_t at_offset = 0;  // state-hash: the next offset; 0: the end of the log
};

/// Reads arguments, environment and file. When there is nothing to run (help, wrong use) it has printed why,
/// and the value is the exit code.
std::pair<std::optional<settings>, int> read_settings(int argument_count, const char* const* arguments);

}  // namespace herald
