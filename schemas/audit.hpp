// The audit (wire.md §2): who did what, on what, when, from where, with which outcome. Rows are chained by
// hashes, so that a change of one shows, and an export of them ends with a signed seal.
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

/// One command of a principal, refused ones too; without its body. At most limits::audit_row_bytes_max.
struct audit_row {
    std::uint64_t sequence = 0;  // dense: 1, 2, 3 …
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;  // of the command
    std::int64_t time = 0;
    schemas::user_id user_id;  // 0: the operator at the machine, or Herald itself
    std::string action;  // the command's name; "set_system_admin is_admin=true", "delete_webhooks ids=3,7"
    std::string resource_type;
    std::string resource_id;  // or its name, where the command names no id
    schemas::workspace_id workspace_id;
    std::string address;
    std::uint32_t code = 0;  // 0: done, otherwise an error_code
    binary_text hash;        // hash_of()
    // As they were called then, cut to limits::audit_text_bytes_max. Empty: nobody, nothing, or without a
    // name.
    std::string user_name;
    std::string resource_name;  // of an endpoint its path
    std::string workspace_name;

    friend bool operator==(const audit_row&, const audit_row&) = default;
    HERALD_DESCRIBE(sequence, generation, offset, time, user_id, action, resource_type, resource_id,
                    workspace_id, address, code, hash, user_name, resource_name, workspace_name);
};

/// SHA-256(`previous` ‖ the row's bytes without its hash): 32 bytes. `previous` is the hash of the row
/// before; empty before the first.
std::string hash_of(std::string_view previous, audit_row);

/// Where the chain stands.
struct audit_head {
    std::uint64_t last = 0;   // sequence of the newest row; 0: there was none yet
    binary_text hash;         // its hash
    std::uint64_t first = 1;  // of the rows that are kept; last + 1: none is
    binary_text before;       // the hash of the row before the first

    friend bool operator==(const audit_head&, const audit_head&) = default;
    HERALD_DESCRIBE(last, hash, first, before);
};

/// The last line of an export: which rows stand before it, signed by the installation.
struct audit_seal {
    uuid log_id{};
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;  // of the state that was exported
    audit_head head;
    binary_text signature;  // ed25519, of signed_text()

    HERALD_DESCRIBE(log_id, generation, offset, head, signature);
};

/// What is signed: all of the seal but its signature.
std::string signed_text(audit_seal);

}  // namespace herald::schemas
