// Signed URLs of artifacts. A URL says what it allows, and only this installation can make it (wire.md
// "Artifact URLs").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/describe.hpp"

namespace herald::api::registry {

enum class url_use : std::uint8_t { get, put };

struct artifact_url {
    schemas::version_id version;
    std::string key;
    std::string path_digest;  // of the entry's path
    bool is_put = false;
    std::uint32_t part_number = 0;
    schemas::user_id user;  // whose rights count when it is used
    std::int64_t expires_ms = 0;
    std::string key_name;   // of the key ring's key that signed it
    schemas::uuid drawn{};  // makes each URL unique, so that its uses can be counted

    HERALD_DESCRIBE(version, key, path_digest, is_put, part_number, user, expires_ms, key_name, drawn);
};

/// The last segment of the path says what the URL allows, and the query holds its signature: logs keep paths,
/// and a path alone must be of no use to their readers. Both are letters and digits.
struct signed_text {
    std::string said;
    std::string signature;
};
/// The current key of the ring signs it. `log` is its log and generation (find::log_of_urls): a copy of an
/// installation has the same keys, and uses the same ids for other things.
signed_text text_of(artifact_url, std::string_view log, const runtime::key_ring&);
/// Errors: permission_denied when it was altered, is of another log or generation, has expired, or is for the
/// other use.
result<artifact_url> read_url(const signed_text&, url_use, std::string_view log, const runtime::key_ring&,
                              std::int64_t now_ms);

}  // namespace herald::api::registry
