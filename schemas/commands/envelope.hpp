// The envelope of every command, frozen for ever, and the outcome that comes back (design.md §1).
#pragma once

#include <concepts>

#include "runtime/error.hpp"
#include "schemas/commands/level.hpp"
#include "schemas/describe.hpp"

namespace herald::schemas::commands {

/// The number of a kind of command, frozen. Each command's struct states its own.
enum class command_type : std::uint16_t {};

/// Who may send a command. A user's is accepted only with a key that is valid at the command's place in the
/// log. A command of a signed URL (wire.md "Artifact URLs") counts as one of the user whom the URL names: the
/// node has checked the signature, and the rule checks the rights.
enum class sender : std::uint8_t { user, node, operator_, signed_url };

/// What a command's struct declares besides its number, where it differs:
///
///     static constexpr command_traits traits{.passes_full_disk = true};
struct command_traits {
    std::uint32_t level = first_level;  // the lowest that understands it
    sender from = sender::user;
    bool passes_full_disk = false;  // it frees space, or must arrive even when the disk is full
    /// It takes away access to predictions: each node confirms at once that it has applied it, and the answer
    /// waits for that (design.md §4).
    bool withdraws = false;
};

/// The struct of a command. To be sent, it must be in a list (all.hpp).
template <class Command>
concept command_struct = described<Command> && requires {
    { Command::type } -> std::convertible_to<command_type>;
};
template <command_struct Command>
consteval command_traits traits_of() {
    if constexpr (requires { Command::traits; })
        return Command::traits;
    else
        return {};
}
/// Nodes send a heartbeat at once only after these, so only these can be awaited.
template <class Command>
concept withdrawing_command = command_struct<Command> && traits_of<Command>().withdraws;

/// Commands whose rules stand in one file. Each file of commands ends with its list.
template <class... Commands>
struct command_list {};

/// The caller, their address, and the key that makes a repeat safe (design.md §1 "Repeats"). Empty for
/// commands of nodes.
struct request_identity {
    user_id principal;
    std::string credential_hash;  // SHA-256 of the developer key used
    std::string scope;            // "POST /api/v1/…": method and path
    std::string idempotency_key;  // empty: no row is stored
    std::string fingerprint;      // SHA-256 of query and raw body
    std::string address;          // of the caller, for the audit log
    std::string traceparent;      // W3C trace context, forwarded to deliveries; empty: none
    std::string base_url;         // where the caller found this node: "https://host[:port][/path]"
    std::string request_id;       // svc-request-id

    HERALD_DESCRIBE(principal, credential_hash, scope, idempotency_key, fingerprint, address, traceparent,
                    base_url, request_id);
};

struct command_envelope {
    uuid log_id{};
    std::uint32_t generation = 0;
    uuid command_id{};
    request_identity request;
    std::int64_t sender_clock_ms = 0;
    std::int64_t not_after_ms = 0;
    std::uint32_t level = first_level;  // of the command: the lowest that understands it
    command_type type{};
    std::string body;  // the binary form of the type's struct

    HERALD_DESCRIBE(log_id, generation, command_id, request, sender_clock_ms, not_after_ms, level, type,
                    body);
};

/// magic "HRC1" ‖ first 8 bytes of SHA-256(rest) ‖ binary form of the envelope.
std::string seal_envelope(const command_envelope&);
/// invalid_argument when the magic or the checksum is wrong, or the rest is not an envelope. All versions
/// refuse the same bytes; the applier compares the log id.
result<command_envelope> open_envelope(std::string_view record_value);

/// What apply decided: stored for repeats and returned to the sender. The answer is always made from this.
struct outcome {
    std::uint32_t code = 0;  // 0: success, otherwise an error_code
    std::string message;
    std::string body;      // the binary form of the type's answer ("→" at its struct)
    uuid command_id{};     // of the command that took effect: minted secrets are derived from it
    std::string key_name;  // key ring key from which minted secrets are derived
    std::uint64_t offset = 0;
    std::string fingerprint;

    HERALD_DESCRIBE(code, message, body, command_id, key_name, offset, fingerprint);
};

}  // namespace herald::schemas::commands
