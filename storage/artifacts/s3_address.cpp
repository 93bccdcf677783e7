#include "storage/artifacts/s3_address.hpp"

#include <algorithm>

#include "runtime/http/client/location.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/s3_signing.hpp"

namespace herald::storage::artifacts {
namespace {

namespace client = runtime::http::client;

constexpr std::string_view scheme = "s3://";
constexpr std::size_t shortest_bucket = 3;
constexpr std::size_t longest_bucket = 63;
constexpr std::size_t longest_region = 64;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_bucket(std::string_view name) {
    return name.size() >= shortest_bucket && name.size() <= longest_bucket &&
           is_lower_or_digit(name.front()) && is_lower_or_digit(name.back()) &&
           std::ranges::all_of(name, [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; });
}

/// Names that are the same in a URL, in XML and in any server's file system.
bool is_prefix(std::string_view prefix) {
    const bool is_plain = std::ranges::all_of(prefix, [](char c) {
        return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') ||
               std::string_view("-._/").find(c) != std::string_view::npos;
    });
    for (std::string_view rest = prefix; is_plain && !rest.empty();) {
        const std::size_t end = std::min(rest.find('/'), rest.size());
        const std::string_view name = rest.substr(0, end);
        if (name.empty() || name == "." || name == "..") return false;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return is_plain && prefix.size() <= limits::s3_prefix_bytes_max;
}

/// The address policy guards against locations that strangers name; the operator names this one.
client::address_policy every_address() {
    const client::address_block all_v4{client::ip_address{client::ip_address::family::v4, {}}, 0};
    const client::address_block all_v6{client::ip_address{client::ip_address::family::v6, {}}, 0};
    return client::address_policy({all_v4, all_v6});
}

result<client::location> server_at(std::string_view endpoint) {
    return client::parse_location(endpoint, client::plain_http::allowed, every_address());
}

}  // namespace

bool is_s3_location(std::string_view text) noexcept { return text.starts_with(scheme); }

result<s3_place> parse_s3_location(std::string_view text) {
    std::string_view rest = text;
    if (is_s3_location(rest)) rest.remove_prefix(scheme.size());
    const std::size_t end = std::min(rest.find('/'), rest.size());
    s3_place place{std::string(rest.substr(0, end)),
                   std::string(rest.substr(std::min(end + 1, rest.size())))};
    while (place.prefix.ends_with('/')) place.prefix.pop_back();
    if (!is_s3_location(text) || !is_bucket(place.bucket) || !is_prefix(place.prefix))
        return runtime::invalid_argument(
            {"\"", text,
             "\" names no bucket of S3; it must be s3://BUCKET or s3://BUCKET/PREFIX, with a bucket of ",
             shortest_bucket, " to ", longest_bucket,
             " small letters, digits, - and ., and a prefix of at most ", limits::s3_prefix_bytes_max,
             " letters, digits, -, ., _ and / between names"});
    if (!place.prefix.empty()) place.prefix += '/';
    return place;
}

result<void> check_s3_region(std::string_view region) {
    const bool is_plain =
        std::ranges::all_of(region, [](char c) { return is_lower_or_digit(c) || c == '-'; });
    if (is_plain && !region.empty() && region.size() <= longest_region) return {};
    return runtime::invalid_argument(
        {"\"", region,
         "\" is not a region; it must be lower-case letters, digits and -, such as "
         "eu-central-1"});
}

result<void> check_s3_endpoint(std::string_view endpoint) {
    const auto server = server_at(endpoint);
    if (!server)
        return runtime::invalid_argument(
            {"\"", endpoint, "\" is not the address of an S3 server: ", server.error().message});
    if (server->target == "/") return {};
    return runtime::invalid_argument({"\"", endpoint,
                                      "\" has a path; the address of an S3 server must have none, such as "
                                      "https://s3.example.com:9000"});
}

result<s3_address> address_of(const s3_place& place, std::string_view region, std::string_view endpoint) {
    const bool is_in_path = !endpoint.empty() || place.bucket.find('.') != std::string::npos;
    std::string named(endpoint);
    if (named.empty())
        named = "https://" + (is_in_path ? "" : place.bucket + ".") + "s3." + std::string(region) +
                ".amazonaws.com";
    if (const auto good = check_s3_region(region); !good) return good.error();
    if (const auto good = check_s3_endpoint(named); !good) return good.error();
    const auto server = server_at(named);
    s3_address address;
    address.tls = server->tls;
    address.host = server->authority();
    address.base = (address.tls ? "https://" : "http://") + address.host;
    address.path = is_in_path ? "/" + place.bucket + "/" : "/";
    return address;
}

}  // namespace herald::storage::artifacts
