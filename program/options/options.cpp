#include "program/options/options.hpp"

#include <cctype>

#include "api/serving/engines/onnx/limits.hpp"
#include "program/options/limits.hpp"
#include "storage/node/limits.hpp"
#include "workers/limits.hpp"

namespace herald::program {
namespace {

using group = option_group;

constexpr std::uint64_t mebibyte = 1024 * 1024;

std::vector<option> options_of_http() {
    using server = runtime::http::server::server_options;
    return {
        {.name = "listen",
         .operand = "ADDRESS:PORT",
         .group = group::http,
         .default_text = "127.0.0.1:8080",
         .help = "address of the HTTP server; a worker serves only health and metrics there, and only if "
                 "this is given",
         .value = address_and_port(&settings::listen)},
        {.name = "tls-cert",
         .operand = "FILE",
         .group = group::http,
         .help = "PEM: serve HTTPS with this certificate",
         .value = text(&settings::server, &server::tls_certificate_file)},
        {.name = "tls-key",
         .operand = "FILE",
         .group = group::http,
         .help = "PEM: the certificate's key",
         .value = text(&settings::server, &server::tls_key_file)},
        {.name = "idle-seconds",
         .operand = "N",
         .group = group::http,
         .default_text = std::to_string(limits::connection_idle_ms_max / 1000),
         .help = "Herald closes a connection that has had no request for so long; set it above the idle time "
                 "of a "
                 "balancer before Herald",
         .value =
             number({.min = 1, .max = limits::connection_idle_seconds_max, .unit = 1000}, &settings::server,
                    &server::bounds, &runtime::http::server::connection_limits::idle_ms)},
        {.name = "header-prefix",
         .operand = "NAME,…",
         .group = group::http,
         .default_text = "svc-",
         .help = "prefix of Herald's own headers; svc-,other- sends each header with both",
         .value = {option_kind::list, read_header_prefixes}},
    };
}

std::vector<option> options_of_kafka() {
    using kafka = events::log::kafka::kafka_options;
    return {
        {.name = "kafka",
         .operand = "HOST:PORT,…",
         .group = group::kafka,
         .help = "the brokers",
         .value = {option_kind::list, text(&settings::kafka, &kafka::bootstrap_servers).read}},
        {.name = "kafka-option",
         .operand = "NAME=VALUE",
         .group = group::kafka,
         .help = "an option of librdkafka (TLS, SASL); may be repeated",
         .value = {option_kind::repeated, read_kafka_properties}},
        {.name = "topic-prefix",
         .operand = "TEXT",
         .group = group::kafka,
         .default_text = "herald.",
         .help = "prefix of the topics' names",
         .value = text(&settings::kafka, &kafka::topic_prefix)},
        {.name = "worker-id",
         .operand = "NAME",
         .group = group::cluster_worker,
         .help = "lets a worker keep its partitions while it restarts within 30 s (static membership, "
                 "KIP-345); only for restarts under the same name: after a scale-down or a failure its "
                 "partitions rest for 30 s; each worker must have its own name",
         .value = {option_kind::text, read_worker_id}},
        {.name = "replication",
         .operand = "N",
         .group = group::topics,
         .default_text = std::to_string(events::log::kafka::replicas_default),
         .help = "copies of each topic, at most as many as brokers",
         .value = number({.min = 1, .max = limits::replication_max}, &settings::kafka, &kafka::replicas)},
        {.name = "reset",
         .group = group::groups,
         .help = "groups that lost their place resume at what the log still has",
         .value = flag(false, true, &settings::reset_groups)},
    };
}

std::vector<option> options_of_data() {
    return {
        {.name = "data",
         .operand = "DIR",
         .group = group::data,
         .default_text = "./herald-data",
         .help = "Herald's files are in DIR/herald/",
         .value = {option_kind::text, read_data}},
        {.name = "key-ring",
         .operand = "FILE",
         .group = group::key_ring,
         .default_meaning = "DIR/herald/key-ring without Kafka",
         .help = "the keys that encrypt stored secrets; the same for every node and worker; a new "
                 "installation makes them (standalone, init); without them, secrets cannot be read",
         .value = text(&settings::key_ring)},
        {.name = "accept-clock",
         .group = group::clock,
         .help = "accepts a clock that is over 30 days ahead of the newest data",
         .value =
             flag(storage::embedded_log::clock_leap::refused, storage::embedded_log::clock_leap::accepted,
                  &settings::embedded_log, &storage::embedded_log::embedded_log_options::leap)},
        {.name = "at",
         .operand = "OFFSET",
         .group = group::state_hash,
         .default_meaning = "the end of the log",
         .help = "where to stop: next_offset of /readyz",
         .value = number({.max = UINT64_MAX}, &settings::at_offset)},
        {.name = "from",
         .operand = "BACKUP",
         .group = group::from_backup,
         .help = "begins the installation with this backup, for example to move a standalone to Kafka; needs "
                 "the backup's key ring",
         .value = text(&settings::from_backup)},
        {.name = "paused",
         .group = group::restoring,
         .help = "delivers nothing of the restored installation until herald resume",
         .value = flag(storage::backup::deliveries::run, storage::backup::deliveries::paused,
                       &settings::restored_deliveries, &storage::backup::restored_deliveries::begin)},
        {.name = "retry-dead",
         .group = group::restoring,
         .help = "tries dead deliveries again, with all their attempts",
         .value = flag(storage::backup::dead_deliveries::stay, storage::backup::dead_deliveries::tried_again,
                       &settings::restored_deliveries, &storage::backup::restored_deliveries::dead)},
        {.name = "content",
         .group = group::state_hash,
         .help = "hashes only what a backup carries into another log; the same before and after a restore",
         .value = flag(false, true, &settings::content_only)},
        {.name = "public-key",
         .operand = "KEY",
         .group = group::audit,
         .help = "the installation's public key, from GET /api/v1/uac-proxy/audit/public-key",
         .value = {option_kind::text, read_public_key}},
        {.name = "log-id",
         .operand = "ID",
         .group = group::audit,
         .help = "the id of the installation's log, from there too; installations with the same key ring "
                 "have the same key",
         .value = {option_kind::text, read_log_id}},
    };
}

std::vector<option> options_of_nodes() {
    using node = storage::node::registry_node::options;
    using storage::node::read_mode;
    return {
        {.name = "metrics-listen",
         .operand = "ADDRESS:PORT",
         .group = group::node,
         .help = "serves /metrics here instead of on the main address; health checks are served here too, so "
                 "that a flood of requests cannot delay them",
         .value = address_and_port(&settings::metrics_listen)},
        {.name = "public-url",
         .operand = "URL",
         .group = group::node,
         .default_meaning = "the request's scheme and Host field; without Host, the address it was sent to",
         .help = "the URL at which callers reach this node; needed behind a proxy that changes the scheme or "
                 "Host",
         .value = {option_kind::text, read_public_url}},
        {.name = "log-requests",
         .operand = "BOOLEAN",
         .group = group::node,
         .default_text = "true",
         .help = "logs a line for each request",
         .value = yes_or_no(runtime::http::server::request_log::off, runtime::http::server::request_log::on,
                            &settings::server, &runtime::http::server::server_options::log)},
        {.name = "free-disk-mb",
         .operand = "N",
         .group = group::node,
         .default_text = std::to_string(limits::free_disk_bytes_min / mebibyte),
         .help = "refuses writes when less than this is free",
         .value =
             number({.max = limits::free_disk_mb_max, .unit = mebibyte}, &settings::free_disk_bytes_min)},
        {.name = "artifacts",
         .operand = "DIR",
         .group = group::artifacts,
         .default_meaning = "DIR/herald/artifacts without Kafka",
         .help = "folder for the bytes of artifacts (on Kafka shared by all nodes), or s3://BUCKET/PREFIX "
                 "with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
         .value = {option_kind::text, read_artifacts}},
        {.name = "artifacts-endpoint",
         .operand = "URL",
         .group = group::artifacts,
         .default_meaning = "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon",
         .help = "the S3 server that has the bucket, for example https://s3.example.com:9000",
         .value = {option_kind::text, read_artifacts_endpoint}},
        {.name = "artifacts-region",
         .operand = "NAME",
         .group = group::artifacts,
         .default_meaning = "AWS_REGION, AWS_DEFAULT_REGION, else us-east-1",
         .help = "the bucket's region",
         .value = {option_kind::text, read_artifacts_region}},
        {.name = "accept-artifacts",
         .group = group::node,
         .help = "takes over a folder of artifacts that has no mark, or that of an earlier generation that "
                 "has ended for good",
         .value = flag(storage::artifacts::store_taking::refused, storage::artifacts::store_taking::accepted,
                       &settings::artifacts_taking)},
        {.name = "backups",
         .operand = "DIR",
         .group = group::node,
         .default_meaning = "DIR/herald/backups",
         .help = "folder for backups that administrators make while Herald runs; one for each node",
         .value = text(&settings::backups)},
        {.name = "verify",
         .group = group::node,
         .help = "reads the whole state database before serving",
         .value = flag(false, true, &settings::verify)},
        {.name = "skip",
         .operand = "OFFSET:SHA256",
         .group = group::node,
         .help = "last resort: skips a command that this version does not know and would stop at; must be "
                 "the same on every node; may be repeated",
         .value = {option_kind::repeated, read_skips}},
        {.name = "node-id",
         .operand = "NAME",
         .group = group::cluster_node,
         .default_meaning = "random, kept with the data",
         .help = "the name of this API node",
         .value = text(&settings::node, &node::name)},
        {.name = "reads",
         .operand = "MODE",
         .group = group::cluster_node,
         .default_text = "linearizable",
         .help = "local is faster but may be stale; log appends a record for each read",
         .value = choice<read_mode>({{"linearizable", read_mode::linearizable},
                                     {"local", read_mode::local},
                                     {"log", read_mode::log}},
                                    &settings::node, &node::reads)},
    };
}

std::vector<option> options_of_webhooks() {
    using transport = workers::http_transport_options;
    using runtime::http::client::plain_http;
    return {
        {.name = "allow-addresses",
         .operand = "CIDR,…",
         .group = group::webhooks,
         .help = "addresses that webhooks may have besides public ones; '' allows only public ones",
         .value = {option_kind::list, read_allowed_addresses}},
        {.name = "allow-http",
         .group = group::webhooks,
         .help = "allows http locations of webhooks; --allow-http=false refuses them",
         .value = flag(plain_http::refused, plain_http::allowed, &settings::transport, &transport::http)},
        {.name = "extra-ca",
         .operand = "FILE",
         .group = group::webhooks,
         .help = "PEM: certificates to trust besides the system's",
         .value = {option_kind::text, read_extra_ca}},
        {.name = "dns-servers",
         .operand = "ADDRESS:PORT,…",
         .group = group::webhooks,
         .default_meaning = "the system's",
         .help = "servers that resolve the names of webhooks",
         .value = {option_kind::list, read_dns_servers}},
        {.name = "webhook-concurrency",
         .operand = "N",
         .group = group::deliveries,
         .default_text = std::to_string(limits::lane_concurrency_max),
         .help = "most attempts at one webhook at a time, 1 to " +
                 std::to_string(limits::lane_concurrency_setting_max),
         .value = number({.min = 1, .max = limits::lane_concurrency_setting_max}, &settings::worker,
                         &workers::worker_options::concurrency)},
        {.name = "webhook-connections",
         .operand = "N",
         .group = group::deliveries,
         .default_text = std::to_string(limits::receiver_connections_default),
         .help = "most connections to one host and port at a time, whatever webhooks lead there",
         .value = number({.min = 1, .max = limits::client_connections_max}, &settings::transport,
                         &transport::connections_to_one_max)},
        {.name = "egress-proxy",
         .operand = "URL",
         .group = group::deliveries,
         .help = "deliveries go through this HTTP proxy, by CONNECT: http://HOST:PORT; addresses are judged "
                 "before it is asked",
         .value = {option_kind::text, read_egress_proxy}},
        {.name = "client-cert",
         .operand = "FILE",
         .group = group::deliveries,
         .help = "PEM: the certificate, with its chain, that receivers may ask for",
         .value = text(&settings::transport, &transport::certificate_file)},
        {.name = "client-key",
         .operand = "FILE",
         .group = group::deliveries,
         .help = "PEM: the key of that certificate",
         .value = text(&settings::transport, &transport::certificate_key_file)},
    };
}

std::vector<option> options_of_predictions() {
    using prediction = prediction_settings;
    return {
        {.name = "serve-predictions",
         .operand = "BOOLEAN",
         .group = group::predictions,
         .default_text = "true",
         .help = "loads models and answers predictions; updates do not wait for a node that does not",
         .value = yes_or_no(false, true, &settings::predictions, &prediction::are_served)},
        {.name = "onnxruntime",
         .operand = "FILE",
         .group = group::predictions,
         .default_meaning = "libonnxruntime.so.1 beside the program, else the system's",
         .help = "the library that runs ONNX models; without it Herald starts and says so",
         .value = text(&settings::predictions, &prediction::onnxruntime)},
        {.name = "models-memory-mb",
         .operand = "N",
         .group = group::predictions,
         .default_meaning = "half of the memory",
         .help = "memory for all loaded models together; an update beyond it fails",
         .value = number({.min = 1, .max = limits::models_memory_mb_max, .unit = mebibyte},
                         &settings::predictions, &prediction::models_memory_bytes)},
        {.name = "run-memory-mb",
         .operand = "N",
         .group = group::predictions,
         .default_meaning = "an eighth of the memory",
         .help = "what a run of an ONNX model may take beside its inputs, beyond it 400; all together twice "
                 "that, beyond it 503",
         .value = number({.min = limits::onnx_run_bytes_min / mebibyte,
                          .max = limits::models_memory_mb_max,
                          .unit = mebibyte},
                         &settings::predictions, &prediction::run_bytes_max)},
        {.name = "requests-memory-mb",
         .operand = "N",
         .group = group::predictions,
         .default_meaning = "an eighth of the memory, at least " +
                            std::to_string(limits::finished_bodies_bytes_max / mebibyte),
         .help =
             "memory for all requests whose answers are not made yet: bodies, what reading them takes, and "
             "the inputs of models; beyond it 429 or 503, and 413 for what would not fit alone",
         .value = number(
             {.min = limits::request_memory_mb_min, .max = limits::models_memory_mb_max, .unit = mebibyte},
             &settings::predictions, &prediction::request_bytes_max)},
        {.name = "model-mb",
         .operand = "N",
         .group = group::predictions,
         .default_text = std::to_string(limits::model_bytes_max / mebibyte),
         .help = "largest size of a model; the build of a larger one fails",
         .value = number({.min = 1, .max = limits::model_mb_max, .unit = mebibyte}, &settings::predictions,
                         &prediction::model_bytes_max)},
        {.name = "allow-upstream-addresses",
         .operand = "CIDR,…",
         .group = group::predictions,
         .default_meaning = "as --allow-addresses",
         .help = "addresses that an upstream_url may have besides public ones; '' allows only public ones",
         .value = {option_kind::list, read_upstream_addresses}},
        {.name = "prediction-log-rate",
         .operand = "N",
         .group = group::predictions,
         .default_text = std::to_string(limits::predictions_for_a_log_line),
         .help = "logs one of N predictions; 1 logs each one, 0 none",
         .value = number({.min = 0, .max = UINT32_MAX}, &settings::predictions, &prediction::logged_each)},
        {.name = "isolation-grace",
         .operand = "SECONDS",
         .group = group::cluster_node,
         .default_text = std::to_string(limits::isolation_grace_ms_default / 1'000),
         .help = "how long this node answers predictions while it cannot reach Kafka; it stops an unsafe "
                 "build within that time",
         .value = number(
             {.min = limits::isolation_grace_s_min, .max = limits::isolation_grace_s_max, .unit = 1'000},
             &settings::node, &storage::node::registry_node::options::isolation_grace_ms)},
    };
}

std::vector<option> options_of_installations() {
    return {
        {.name = "admin-email",
         .operand = "EMAIL",
         .group = group::administrator,
         .help = "e-mail of the first administrator, ignored later; with admin-key: of the administrator who "
                 "gets a new key, else the first one",
         .value = {option_kind::text, read_admin_email}},
        {.name = "admin-key",
         .operand = "KEY",
         .group = group::installation,
         .default_meaning = "made up",
         .help = "key of the first administrator, ignored later; better given as HERALD_ADMIN_KEY, because "
                 "any user who can list processes can read command-line options",
         .value = {option_kind::text, read_admin_key}},
        {.name = "organization",
         .operand = "NAME",
         .group = group::installation,
         .default_text = "default",
         .help = "name of the first organisation and its workspace",
         .value = {option_kind::text, read_organization}},
        {.name = "require-approval-for",
         .operand = "STAGE,…",
         .group = group::installation,
         .default_text = "PRODUCTION",
         .help = "stages of new workspaces that need an approved transition, or none",
         .value = {option_kind::list, read_approvals}},
        {.name = "webhooks-by",
         .operand = "WHO",
         .group = group::installation,
         .default_meaning = "system-admins; at an init of an installation that exists: as it is",
         .help =
             "who may create, change and delete webhooks: system-admins, or also workspace-admins, each "
             "in their workspace; it is the installation's, and a later start with another value changes it",
         .value = choice<schemas::webhooks_by>({{"system-admins", schemas::webhooks_by::system_admins},
                                                {"workspace-admins", schemas::webhooks_by::workspace_admins}},
                                               &settings::installation,
                                               &storage::node::genesis_options::webhooks_by)},
    };
}

std::vector<option> make_table() {
    std::vector<option> all{{.name = "config",
                             .operand = "FILE",
                             .group = group::file,
                             .help = "TOML file with options",
                             .value = text(&settings::config_file)}};
    for (const auto& part : {options_of_http(), options_of_kafka(), options_of_data(), options_of_nodes(),
                             options_of_webhooks(), options_of_predictions(), options_of_installations()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

std::string_view heading_of(option_group of) {
    switch (of) {
        case group::http:
            return "HTTP";
        case group::kafka:
        case group::topics:
        case group::groups:
        case group::cluster_worker:
            return "Kafka";
        case group::data:
        case group::key_ring:
        case group::node:
        case group::cluster_node:
        case group::clock:
        case group::state_hash:
        case group::restoring:
        case group::from_backup:
        case group::artifacts:
        case group::audit:
            return "Data";
        case group::webhooks:
        case group::deliveries:
            return "Webhooks";
        case group::predictions:
            return "Predictions";
        case group::administrator:
        case group::installation:
            return "The installation";
        case group::file:
            break;
    }
    return "Options";
}

const std::vector<option>& all_options() {
    static const std::vector<option> table = make_table();
    return table;
}

std::string environment_name(std::string_view option) {
    std::string name = "HERALD_";
    for (const char c : option)
        name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

}  // namespace herald::program
