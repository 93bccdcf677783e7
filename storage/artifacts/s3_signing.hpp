// Signatures of requests to S3: AWS Signature Version 4 ("Authenticating Requests", SigV4). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/http/message.hpp"

namespace herald::storage::artifacts {

struct s3_credentials {
    std::string key_id;
    std::string secret;
    std::string session_token;  // empty: the key is a lasting one
};

/// For what a signature is good.
struct signature_scope {
    std::string region;
    std::string service = "s3";
};

/// What is signed of a request: all of it but what the HTTP client adds.
struct signed_request {
    std::string method;
    std::string path;  // as it is sent, percent-encoded
    std::vector<std::pair<std::string, std::string>> query;
    std::vector<runtime::http::header> headers;  // host among them; names may repeat
    std::string payload_hash;                    // SHA-256 in hex
    std::int64_t time_ms = 0;
};

/// A key as the path of a request names it: percent-encoded but for its slashes.
std::string path_of(std::string_view key);
/// "name=value&…" in the order that is signed, without '?'; empty without parameters.
std::string query_text(std::vector<std::pair<std::string, std::string>> query);
/// "20130524T000000Z".
std::string signing_time(std::int64_t ms_since_epoch);

/// The steps of a signature, each as the specification shows it.
std::string canonical_request(const signed_request&);
std::string text_to_sign(const signed_request&, const signature_scope&);
/// The value of the header Authorization.
std::string authorization(const signed_request&, const signature_scope&, const s3_credentials&);

}  // namespace herald::storage::artifacts
