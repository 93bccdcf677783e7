#include "program/options.hpp"

#include <cctype>

#include "api/serving/engines/onnx/limits.hpp"
#include "program/limits.hpp"
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
         .help = "where HTTP is served; a worker serves only health and metrics, and only if told",
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
        {.name = "header-prefix",
         .operand = "NAME,…",
         .group = group::http,
         .default_text = "svc-",
         .help = "before Herald's own headers; svc-,other- sends each under both",
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
         .help = "goes to librdkafka as it is (TLS, SASL); may be repeated",
         .value = {option_kind::repeated, read_kafka_properties}},
        {.name = "topic-prefix",
         .operand = "TEXT",
         .group = group::kafka,
         .default_text = "herald.",
         .help = "before the names of topics",
         .value = text(&settings::kafka, &kafka::topic_prefix)},
        {.name = "replication",
         .operand = "N",
         .group = group::topics,
         .default_text = std::to_string(events::log::kafka::replicas_default),
         .help = "copies of each topic, at most as many as brokers",
         .value = number({.min = 1, .max = limits::replication_max}, &settings::kafka, &kafka::replicas)},
        {.name = "reset",
         .group = group::groups,
         .help = "groups that lost their place go on at what the log still has",
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
         .help = "encrypts stored secrets; the same for every node and worker; made with a new installation "
                 "(standalone, init); without it, secrets cannot be read",
         .value = text(&settings::key_ring)},
        {.name = "accept-clock",
         .group = group::clock,
         .help = "the clock is right though the newest data is over 30 days old",
         .value =
             flag(storage::embedded_log::clock_leap::refused, storage::embedded_log::clock_leap::accepted,
                  &settings::embedded_log, &storage::embedded_log::embedded_log_options::leap)},
        {.name = "at",
         .operand = "OFFSET",
         .group = group::state_hash,
         .default_meaning = "the end of the log",
         .help = "next_offset as /readyz shows it",
         .value = number({.max = UINT64_MAX}, &settings::at_offset)},
        {.name = "from",
         .operand = "BACKUP",
         .group = group::from_backup,
         .help = "begins with this backup, as when a standalone moves to Kafka; its key ring must be given",
         .value = text(&settings::from_backup)},
        {.name = "paused",
         .group = group::restoring,
         .help = "nothing of a restored installation is delivered until herald resume",
         .value = flag(storage::backup::deliveries::run, storage::backup::deliveries::paused,
                       &settings::restored_deliveries, &storage::backup::restored_deliveries::begin)},
        {.name = "retry-dead",
         .group = group::restoring,
         .help = "deliveries that were dead are tried again, with all their attempts",
         .value = flag(storage::backup::dead_deliveries::stay, storage::backup::dead_deliveries::tried_again,
                       &settings::restored_deliveries, &storage::backup::restored_deliveries::dead)},
        {.name = "content",
         .group = group::state_hash,
         .help = "only of what a backup carries into another log: equal before and after a restore",
         .value = flag(false, true, &settings::content_only)},
        {.name = "public-key",
         .operand = "KEY",
         .group = group::audit,
         .help = "of the installation, as GET /api/v1/uac-proxy/audit/public-key says it",
         .value = {option_kind::text, read_public_key}},
        {.name = "log-id",
         .operand = "ID",
         .group = group::audit,
         .help = "of the installation's log, from there too: installations with one key ring have one key",
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
         .help = "/metrics there instead of on the main address; health there, too, apart from floods",
         .value = address_and_port(&settings::metrics_listen)},
        {.name = "public-url",
         .operand = "URL",
         .group = group::node,
         .default_meaning =
             "http or https, and the request's Host field, or without one the address it was sent to",
         .help = "where callers find this node; needed behind a proxy that changes either",
         .value = {option_kind::text, read_public_url}},
        {.name = "log-requests",
         .operand = "BOOLEAN",
         .group = group::node,
         .default_text = "true",
         .help = "a line for each request",
         .value = yes_or_no(runtime::http::server::request_log::off, runtime::http::server::request_log::on,
                            &settings::server, &runtime::http::server::server_options::log)},
        {.name = "free-disk-mb",
         .operand = "N",
         .group = group::node,
         .default_text = std::to_string(limits::free_disk_bytes_min / mebibyte),
         .help = "with less than this, writes are refused",
         .value =
             number({.max = limits::free_disk_mb_max, .unit = mebibyte}, &settings::free_disk_bytes_min)},
        {.name = "artifacts",
         .operand = "DIR",
         .group = group::artifacts,
         .default_meaning = "DIR/herald/artifacts without Kafka",
         .help = "where the bytes of artifacts are: a folder, on Kafka one that all nodes share, or "
                 "s3://BUCKET/PREFIX with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
         .value = {option_kind::text, read_artifacts}},
        {.name = "artifacts-endpoint",
         .operand = "URL",
         .group = group::artifacts,
         .default_meaning = "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon",
         .help = "the server of S3 that has the bucket, as in https://s3.example.com:9000",
         .value = {option_kind::text, read_artifacts_endpoint}},
        {.name = "artifacts-region",
         .operand = "NAME",
         .group = group::artifacts,
         .default_meaning = "AWS_REGION, AWS_DEFAULT_REGION, else us-east-1",
         .help = "the bucket's region",
         .value = {option_kind::text, read_artifacts_region}},
        {.name = "accept-artifacts",
         .group = group::node,
         .help = "a folder of artifacts becomes this installation's, though it lacks its mark or has that of "
                 "an earlier generation, which has ended for good",
         .value = flag(storage::artifacts::store_taking::refused, storage::artifacts::store_taking::accepted,
                       &settings::artifacts_taking)},
        {.name = "backups",
         .operand = "DIR",
         .group = group::node,
         .default_meaning = "DIR/herald/backups",
         .help = "where backups go that administrators ask for while Herald runs; a folder for each node",
         .value = text(&settings::backups)},
        {.name = "verify",
         .group = group::node,
         .help = "reads the whole state database before serving",
         .value = flag(false, true, &settings::verify)},
        {.name = "skip",
         .operand = "OFFSET:SHA256",
         .group = group::node,
         .help = "the last resort: passes over a command that this version does not know, and stops at; the "
                 "same on every node; may be repeated",
         .value = {option_kind::repeated, read_skips}},
        {.name = "node-id",
         .operand = "NAME",
         .group = group::cluster_node,
         .default_meaning = "random, kept with the data",
         .help = "the name of an API node",
         .value = text(&settings::node, &node::name)},
        {.name = "reads",
         .operand = "MODE",
         .group = group::cluster_node,
         .default_text = "linearizable",
         .help = "local is faster and may be stale, log appends for each read",
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
         .help = "addresses beside the public ones that webhooks may have; '' is public only",
         .value = {option_kind::list, read_allowed_addresses}},
        {.name = "allow-http",
         .group = group::webhooks,
         .help = "webhooks may have http locations; --allow-http=false",
         .value = flag(plain_http::refused, plain_http::allowed, &settings::transport, &transport::http)},
        {.name = "extra-ca",
         .operand = "FILE",
         .group = group::webhooks,
         .help = "PEM: certificates trusted beside the system's",
         .value = {option_kind::text, read_extra_ca}},
        {.name = "dns-servers",
         .operand = "ADDRESS:PORT,…",
         .group = group::webhooks,
         .default_meaning = "the system's",
         .help = "where names of webhooks are looked up",
         .value = {option_kind::list, read_dns_servers}},
        {.name = "webhook-concurrency",
         .operand = "N",
         .group = group::deliveries,
         .default_text = std::to_string(limits::lane_concurrency_max),
         .help = "at most so many attempts at one webhook at a time, 1 to " +
                 std::to_string(limits::lane_concurrency_setting_max),
         .value = number({.min = 1, .max = limits::lane_concurrency_setting_max}, &settings::worker,
                         &workers::worker_options::concurrency)},
    };
}

std::vector<option> options_of_predictions() {
    using prediction = prediction_settings;
    return {
        {.name = "serve-predictions",
         .operand = "BOOLEAN",
         .group = group::predictions,
         .default_text = "true",
         .help = "this node loads models and answers predictions; no update waits for one that does not",
         .value = yes_or_no(false, true, &settings::predictions, &prediction::are_served)},
        {.name = "onnxruntime",
         .operand = "FILE",
         .group = group::predictions,
         .default_meaning = "libonnxruntime.so.1 beside the program, else the system's",
         .help = "the library that runs ONNX models; Herald starts without it, and says so",
         .value = text(&settings::predictions, &prediction::onnxruntime)},
        {.name = "models-memory-mb",
         .operand = "N",
         .group = group::predictions,
         .default_meaning = "half of the memory",
         .help = "what loaded models may take, together; beyond it an update fails",
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
        {.name = "model-mb",
         .operand = "N",
         .group = group::predictions,
         .default_text = std::to_string(limits::model_bytes_max / mebibyte),
         .help = "a larger model ends its build in error",
         .value = number({.min = 1, .max = limits::model_mb_max, .unit = mebibyte}, &settings::predictions,
                         &prediction::model_bytes_max)},
        {.name = "allow-upstream-addresses",
         .operand = "CIDR,…",
         .group = group::predictions,
         .default_meaning = "as --allow-addresses",
         .help =
             "addresses beside the public ones that builds with an upstream_url may have; '' is public only",
         .value = {option_kind::list, read_upstream_addresses}},
        {.name = "prediction-log-rate",
         .operand = "N",
         .group = group::predictions,
         .default_text = std::to_string(limits::predictions_for_a_log_line),
         .help = "a line in the log for one of N predictions; 1: for each; 0: for none",
         .value = number({.min = 0, .max = UINT32_MAX}, &settings::predictions, &prediction::logged_each)},
        {.name = "isolation-grace",
         .operand = "SECONDS",
         .group = group::cluster_node,
         .default_text = std::to_string(limits::isolation_grace_ms_default / 1'000),
         .help = "for how long this node answers predictions while Kafka is out of reach; a build reported "
                 "unsafe is stopped there within it",
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
         .help = "of the first administrator, ignored later; admin-key: whose key is made anew, else the "
                 "first's",
         .value = {option_kind::text, read_admin_email}},
        {.name = "admin-key",
         .operand = "KEY",
         .group = group::installation,
         .default_meaning = "made up",
         .help = "of the first administrator, ignored later; better given as HERALD_ADMIN_KEY: whoever may "
                 "list processes sees their options",
         .value = {option_kind::text, read_admin_key}},
        {.name = "organization",
         .operand = "NAME",
         .group = group::installation,
         .default_text = "default",
         .help = "the first organisation and its workspace",
         .value = {option_kind::text, read_organization}},
        {.name = "require-approval-for",
         .operand = "STAGE,…",
         .group = group::installation,
         .default_text = "PRODUCTION",
         .help = "stages of new workspaces that need an approved transition; none",
         .value = {option_kind::list, read_approvals}},
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
