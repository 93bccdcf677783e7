// The subject of a command, for the audit, read from its bytes and the state before it. So a command needs
// nothing for it but members of the types of ids.
#pragma once

#include <string>
#include <string_view>

#include "schemas/commands/envelope.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::audit {

struct subject {
    std::string type;  // "REGISTERED_MODEL_VERSION"; empty: the command is about nothing that has an id
    std::string id;    // or the name, where the command has no id
    schemas::workspace_id workspace;
    /// Whether the answer of the command begins with the id of the subject: where a command makes something,
    /// or names it otherwise than by its id.
    bool is_in_answer = false;
    std::string_view kind = {};  // "version"
    /// "is_admin=true", of a command that can do one of two things; "user_id=3,7", of one with several ids.
    std::string direction = {};
    std::string name = {};            // empty before it is made, and if it has none
    std::string workspace_name = {};  // empty as long as the workspace is not known
};

subject subject_of(const state::state_view&, const schemas::commands::command_envelope&);

/// As name_of_row, cut to limits::audit_text_bytes_max; also of an endpoint, whose id is a UUID, its path.
std::string name_of(const state::state_view&, std::string_view kind, std::string_view id);

/// The workspace of a row; 0 for a kind that belongs to none, and if there is no such row.
schemas::workspace_id workspace_of(const state::state_view&, std::string_view kind, std::uint64_t id);

}  // namespace herald::storage::registry::audit
