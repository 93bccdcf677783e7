// Answers about the installation (wire.md §7).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/glossary.hpp"

namespace herald::schemas::answers {

struct health {
    std::string status;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(status);
};

/// A worker has only the first three; reason and message are present only when something is wrong.
struct readiness {
    std::string status;
    std::optional<std::string> reason;
    std::optional<std::string> message;
    std::optional<bool> writes_refused;
    std::optional<std::uint64_t> next_offset;
    std::optional<std::string> hash;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(status, reason, message, writes_refused, next_offset, hash);
};

/// RFC 8037.
struct public_key {
    std::string kty;
    std::string crv;
    std::string x;
    std::string kid;
    std::string alg;
    std::string use;

    static constexpr std::array meanings{meaning{"kty", "OKP", 0},
                                         meaning{"crv", "Ed25519", 0},
                                         meaning{"x", "The key: base64url of 32 bytes", 0},
                                         meaning{"kid", "Its name", 0},
                                         meaning{"alg", "EdDSA", 0},
                                         meaning{"use", "sig", 0}};
    HERALD_DESCRIBE(kty, crv, x, kid, alg, use);
};

struct key_set {
    std::vector<public_key> keys;

    static constexpr std::array meanings{
        meaning{"keys", "The current one first, and one that it has replaced", 0}};
    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(keys);
};

/// The OpenAPI document itself.
struct openapi {
    std::string version;
    json_text info;
    json_text servers;
    json_text security;
    json_text paths;
    json_text webhooks;
    json_text components;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "openapi", self.version);
        field(2, "info", self.info);
        field(3, "servers", self.servers);
        field(4, "security", self.security);
        field(5, "paths", self.paths);
        field(6, "webhooks", self.webhooks);
        field(7, "components", self.components);
    }
};

struct feature_flag {
    bool enabled = true;
    std::string content;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(enabled, content);
};

struct known_flags {
    feature_flag promote_events;
    feature_flag scan_events;

    HERALD_DESCRIBE(promote_events, scan_events);
};

struct feature_flags : one<"feature_flags", known_flags, integers::as_numbers> {};

}  // namespace herald::schemas::answers
