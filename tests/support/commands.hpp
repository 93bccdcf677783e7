// The administrator's requests in the tests' registries: the one place that makes a request's identity and an
// envelope.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/envelope.hpp"
#include "schemas/commands/limits.hpp"
#include "schemas/commands/versions.hpp"

namespace herald::test {

inline constexpr std::string_view admin_email = "admin@example.org";
inline constexpr std::string_view admin_key = "the administrator's key";
inline constexpr schemas::user_id admin{1};
inline constexpr schemas::uuid some_uuid{1};

/// SHA-256 of the administrator's key.
inline const std::string& admin_key_hash() {
    static const std::string hash(runtime::as_bytes(runtime::sha256(admin_key)));
    return hash;
}

/// The identity of a user who uses the administrator's key, which all users of the tests share.
inline schemas::commands::request_identity request_of(schemas::user_id user = admin) {
    schemas::commands::request_identity who;
    who.principal = user;
    who.credential_hash = admin_key_hash();
    who.scope = "POST /test";
    return who;
}

/// The content as a client sends it back after reading it.
inline schemas::version_content content_of(const schemas::model_version& row) {
    return *schemas::decode<schemas::version_content>(schemas::encode(row));
}

/// The envelope in which a node sends the command of a request at that time, in the log's first generation.
/// The caller sets the log's and the command's ids.
inline schemas::commands::command_envelope envelope_of(
    schemas::commands::command_envelope command, std::int64_t now_ms,
    schemas::commands::request_identity who = request_of()) {
    command.generation = 1;
    command.request = std::move(who);
    command.sender_clock_ms = now_ms;
    command.not_after_ms = now_ms + limits::not_after_ms;
    return command;
}

}  // namespace herald::test
