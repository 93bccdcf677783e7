// The address of a bucket: "s3://bucket/prefix", and the server that has it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::storage::artifacts {

/// Whether somebody means a bucket: the text begins with "s3://".
bool is_s3_location(std::string_view text) noexcept;

struct s3_place {
    std::string bucket;
    std::string prefix;  // of all keys: "" or one that ends with a slash
};

/// "s3://bucket" or "s3://bucket/prefix". Errors: invalid_argument, saying what would be right.
result<s3_place> parse_s3_location(std::string_view text);
/// A region's name. Errors: invalid_argument.
result<void> check_s3_region(std::string_view region);
/// "http://host:port" or "https://host:port", without a path. Errors: invalid_argument.
result<void> check_s3_endpoint(std::string_view endpoint);

/// Where requests go.
struct s3_address {
    std::string base;  // "https://host:port"; keys follow as `path` + key
    std::string host;  // as in the Host header
    std::string path;  // "/" or "/bucket/", percent-encoded
    bool tls = true;
};

/// Amazon's server of the region when `endpoint` is empty: the bucket is part of the host's name, as Amazon
/// wants it, unless it has dots, which no certificate matches. Elsewhere the bucket is part of the path.
/// Errors: those of check_s3_region and check_s3_endpoint.
result<s3_address> address_of(const s3_place&, std::string_view region, std::string_view endpoint);

}  // namespace herald::storage::artifacts
