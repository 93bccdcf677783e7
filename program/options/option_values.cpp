#include "program/options/option_values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <sstream>

#include "api/calls/limits.hpp"
#include "program/options/limits.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/client/client.hpp"
#include "runtime/text.hpp"
#include "schemas/enums.hpp"
#include "storage/artifacts/s3_address.hpp"

namespace herald::program {
namespace {

/// The parts between commas, without empty ones.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

/// ADDRESS or ADDRESS:PORT; an IPv6 address with a port is in brackets.
bool is_dns_server(const std::string& text) {
    std::string address = text;
    std::string port = "53";
    const std::size_t colon = text.find(':');
    const std::size_t bracket = text.find("]:");
    const bool is_bracketed = text.starts_with('[');
    if (is_bracketed && bracket != std::string::npos) {
        address = text.substr(1, bracket - 1);
        port = text.substr(bracket + 2);
    } else if (is_bracketed && text.ends_with(']')) {
        address = text.substr(1, text.size() - 2);
    } else if (colon != std::string::npos && colon == text.rfind(':')) {
        address = text.substr(0, colon);
        port = text.substr(colon + 1);
    }
    boost::system::error_code not_literal;
    const auto literal = boost::asio::ip::make_address(address, not_literal);
    return !not_literal && literal.is_v6() >= is_bracketed && parse_number(port, 1, 65'535);
}

/// Secrets mounted as files, and the output of `echo`, end with one.
result<void> check_last_character(const std::string& what, const std::string& value) {
    if (!value.ends_with('\n')) return {};
    return runtime::invalid_argument({what, " ends with a newline; remove it"});
}

/// The stages that a version can be moved to.
std::string stages_text() {
    std::string all;
    for (const auto& [stage, name] : schemas::enum_names<schemas::stage>)
        if (stage != schemas::stage::unknown) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

/// The value of the first of these variables that has one.
std::string from_environment(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const char* value = std::getenv(name); value && *value != '\0') return value;
    return "";
}

/// The end of a sentence.
result<void> check_keys(const storage::artifacts::s3_credentials& keys) {
    if (keys.key_id.empty() || keys.secret.empty())
        return runtime::invalid_argument(
            ", but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both in the environment; they must "
            "be, "
            "and AWS_SESSION_TOKEN with temporary keys");
    for (const std::string* key : {&keys.key_id, &keys.secret, &keys.session_token})
        if (key->ends_with('\n'))
            return runtime::invalid_argument(
                ", but one of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN ends with a "
                "newline; remove it");
    return {};
}

std::string dashed(const given& said) { return "--" + std::string(said.option); }

}  // namespace

error must_be(const given& said, const std::string& what_would_be_right) {
    return runtime::invalid_argument(
        {dashed(said), " is \"", said.text(), "\"; it must be ", what_would_be_right});
}

std::optional<std::uint64_t> parse_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
    const auto number = runtime::parse_decimal(text);
    return number && *number >= min && *number <= max ? number : std::nullopt;
}

std::optional<bool> parse_truth(const std::string& text) {
    bool value = false;
    return CLI::detail::lexical_cast(text, value) ? std::optional(value) : std::nullopt;
}

result<endpoint> parse_endpoint(const given& said) {
    const std::string& text = said.text();
    const std::size_t colon = text.rfind(':');
    const auto port = parse_number(colon == std::string::npos ? "" : text.substr(colon + 1), 0, 65'535);
    if (!port) return must_be(said, "ADDRESS:PORT, such as 127.0.0.1:8080");
    std::string address = text.substr(0, colon);
    if (address.empty())
        return runtime::invalid_argument({dashed(said), " is \"", text, "\", without an address; 0.0.0.0",
                                          text, " means every address of this machine, 127.0.0.1", text,
                                          " this machine alone"});
    if (address == "localhost") address = "127.0.0.1";
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        address = address.substr(1, address.size() - 2);
    boost::system::error_code not_literal;
    boost::asio::ip::make_address(address, not_literal);
    if (not_literal)
        return runtime::invalid_argument({dashed(said), " is \"", text, "\"; \"", address,
                                          "\" is not an IPv4 or IPv6 address, such as 127.0.0.1:8080"});
    return endpoint{std::move(address), static_cast<std::uint16_t>(*port)};
}

result<void> read_data(settings& all, const given& said) {
    if (said.text().empty())
        return runtime::invalid_argument({dashed(said), " is empty; it must be a folder, . for this one"});
    all.data = said.text();
    return {};
}

result<void> read_artifacts(settings& all, const given& said) {
    namespace artifacts = storage::artifacts;
    if (!artifacts::is_s3_location(said.text())) {
        if (said.text().find("://") != std::string::npos)
            return must_be(said, "a folder, which nodes on Kafka share, or s3://BUCKET/PREFIX");
        all.artifacts = said.text();
        return {};
    }
    auto place = artifacts::parse_s3_location(said.text());
    if (!place) return runtime::invalid_argument({dashed(said), ": ", place.error().message});
    artifacts::s3_options& bucket = all.artifacts_bucket;
    bucket.place = *std::move(place);
    bucket.credentials = {from_environment({"AWS_ACCESS_KEY_ID"}),
                          from_environment({"AWS_SECRET_ACCESS_KEY"}),
                          from_environment({"AWS_SESSION_TOKEN"})};
    const auto good = check_keys(bucket.credentials);
    if (!good) return runtime::invalid_argument({dashed(said), " is ", said.text(), good.error().message});
    // The options for these two come later, and win.
    bucket.endpoint = from_environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
    if (const std::string region = from_environment({"AWS_REGION", "AWS_DEFAULT_REGION"}); !region.empty())
        bucket.region = region;
    return {};
}

result<void> read_artifacts_region(settings& all, const given& said) {
    if (said.text().empty()) return {};
    if (const auto good = storage::artifacts::check_s3_region(said.text()); !good)
        return runtime::invalid_argument({dashed(said), ": ", good.error().message});
    all.artifacts_bucket.region = said.text();
    return {};
}

result<void> read_artifacts_endpoint(settings& all, const given& said) {
    if (said.text().empty()) return {};
    if (const auto good = storage::artifacts::check_s3_endpoint(said.text()); !good)
        return runtime::invalid_argument({dashed(said), ": ", good.error().message});
    all.artifacts_bucket.endpoint = said.text();
    return {};
}

result<void> read_extra_ca(settings& all, const given& said) {
    all.transport.extra_ca_file = said.text();
    if (said.text().empty()) return {};
    const auto usable = runtime::http::client::check_extra_ca(said.text());
    if (usable) return {};
    return runtime::invalid_argument({dashed(said), " ", said.text(),
                                      " cannot be used: ", usable.error().message,
                                      "; it must be a file with certificates in PEM"});
}

result<void> read_header_prefixes(settings& all, const given& said) {
    all.server.header_prefixes = split(said.text());
    const bool good = std::all_of(said.text().begin(), said.text().end(), [](char c) {
        return c == '-' || c == '_' || c == ',' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    });
    if (!good || all.server.header_prefixes.empty())
        return must_be(said, "one or more names of letters, digits, - and _");
    all.worker.header_prefix = all.server.header_prefixes.front();
    return {};
}

result<void> read_egress_proxy(settings& all, const given& said) {
    namespace client = runtime::http::client;
    if (said.text().empty()) return {};
    // The operator may name any address, also one that no webhook may have.
    const auto any = client::address_policy::parse("0.0.0.0/0,::/0");
    HERALD_ASSERT(any.has_value());
    auto proxy = client::parse_location(said.text(), client::plain_http::allowed, *any);
    if (!proxy || proxy->tls || proxy->target != "/")
        return must_be(said, "http://HOST:PORT, such as http://proxy.example.com:3128");
    all.transport.proxy = *std::move(proxy);
    return {};
}

result<void> read_allowed_addresses(settings& all, const given& said) {
    auto policy = runtime::http::client::address_policy::parse(said.text());
    if (!policy) return runtime::invalid_argument({dashed(said), ": ", policy.error().message});
    all.transport.policy = *std::move(policy);
    all.allowed_addresses = said.text();
    return {};
}

result<void> read_upstream_addresses(settings& all, const given& said) {
    auto policy = runtime::http::client::address_policy::parse(said.text(), dashed(said));
    if (!policy) return runtime::invalid_argument({dashed(said), ": ", policy.error().message});
    all.predictions.upstream_policy = *std::move(policy);
    return {};
}

result<void> read_dns_servers(settings& all, const given& said) {
    std::istringstream in(said.text());
    for (std::string server; std::getline(in, server, ',');)
        if (!is_dns_server(server))
            return runtime::invalid_argument({dashed(said), " names \"", server,
                                              "\"; it must be ADDRESS:PORT with a port from 1 to 65535, such "
                                              "as 127.0.0.1:53 or [::1]:53"});
    all.transport.dns.servers = said.text();
    return {};
}

result<void> read_public_url(settings& all, const given& said) {
    std::string_view url = said.text();
    while (url.ends_with('/')) url.remove_suffix(1);
    const std::size_t scheme_end = url.starts_with("https://")  ? 8
                                   : url.starts_with("http://") ? 7
                                                                : url.size();
    const std::string_view place = url.substr(scheme_end);
    const bool is_plain = std::ranges::all_of(place, [](char c) {
        return c > ' ' && c < 0x7F && std::string_view("?#@\"<>\\").find(c) == std::string_view::npos;
    });
    if (!said.text().empty() &&
        (place.empty() || place.starts_with('/') || !is_plain || url.size() > limits::base_url_bytes_max))
        return must_be(said,
                       "a URL as in https://models.example.com or https://example.com/herald, at most " +
                           std::to_string(limits::base_url_bytes_max) + " bytes long");
    all.public_url = url;
    return {};
}

result<void> read_kafka_properties(settings& all, const given& said) {
    for (const std::string& property : said.texts) {
        const std::size_t equals = property.find('=');
        if (equals == std::string::npos) return must_be({said.option, {property}}, "NAME=VALUE");
        all.kafka.properties.emplace_back(property.substr(0, equals), property.substr(equals + 1));
    }
    return {};
}

/// What a broker takes as the name of a group's member.
result<void> read_worker_id(settings& all, const given& said) {
    const std::string& name = all.kafka.member_name = said.text();
    const bool is_plain = std::ranges::all_of(name, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    });
    if (is_plain && name != "." && name != ".." && name.size() <= limits::worker_id_bytes_max) return {};
    return must_be(said, "letters, digits, '.', '_' and '-', at most " +
                             std::to_string(limits::worker_id_bytes_max) + " of them");
}

// Checked even if an installation exists already: nobody could sign in to one that began with a wrong value.

result<void> read_public_key(settings& all, const given& said) {
    const auto key = runtime::from_hex(said.text());
    if (!key || key->size() != 32) return must_be(said, "64 hexadecimal digits");
    all.public_key = *key;
    return {};
}

result<void> read_log_id(settings& all, const given& said) {
    const auto id = runtime::from_hex(said.text());
    if (!id || id->size() != sizeof(schemas::uuid)) return must_be(said, "32 hexadecimal digits");
    all.log_id = *id;
    return {};
}

result<void> read_admin_email(settings& all, const given& said) {
    if (said.text().empty()) return {};
    all.installation.admin_email = said.text();
    if (const auto good = check_last_character(dashed(said), said.text()); !good) return good;
    return storage::node::check_admin_email(dashed(said), said.text());
}

result<void> read_admin_key(settings& all, const given& said) {
    const std::string& key = all.installation.admin_key = said.text();
    if (const auto good = check_last_character("the administrator's key", key); !good) return good;
    const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (key.empty() || (key.size() >= 16 && key.size() <= 128 && visible)) return {};
    return runtime::invalid_argument("the administrator's key must be 16 to 128 characters of visible ASCII");
}

result<void> read_organization(settings& all, const given& said) {
    all.installation.organization_name = said.text();
    if (const auto good = check_last_character(dashed(said), said.text()); !good) return good;
    return storage::node::check_organization_name(dashed(said), said.text());
}

result<void> read_skips(settings& all, const given& said) {
    for (const std::string& text : said.texts) {
        const std::size_t colon = text.find(':');
        const auto offset = parse_number(text.substr(0, colon), 0, INT64_MAX);
        const auto hash = runtime::from_hex(colon == text.npos ? "" : text.substr(colon + 1));
        if (!offset || !hash || hash->size() != runtime::sha256_digest().size())
            return must_be(said, "OFFSET:SHA256, as in the message with which a node stopped");
        all.node.skips.push_back({*offset, *hash});
    }
    return {};
}

result<void> read_approvals(settings& all, const given& said) {
    all.installation.require_approval_for.clear();
    if (said.text() == "none") return {};
    for (const std::string& name : split(said.text())) {
        const auto stage = schemas::from_name<schemas::stage>(name);
        if (!stage || *stage == schemas::stage::unknown)
            return runtime::invalid_argument({dashed(said), " names \"", name,
                                              "\"; it must be one or more of ", stages_text(),
                                              ", or none alone: no stage needs an approval"});
        all.installation.require_approval_for.push_back(*stage);
    }
    return {};
}

}  // namespace herald::program
