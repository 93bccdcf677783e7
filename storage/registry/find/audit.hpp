// Rows of the audit (wire.md §2).
#pragma once

#include <optional>

#include "schemas/audit.hpp"
#include "storage/registry/find/find.hpp"

namespace herald::storage::registry::find {

/// A question to the audit; absent members match everything.
struct audit_question {
    std::int64_t since_ms = 0;  // this time or later
    std::int64_t until_ms = 0;  // before this time; 0: to the end
    std::optional<schemas::user_id> user;
    std::optional<schemas::workspace_id> workspace;
    std::string resource_type;
    std::string resource_id;
    std::optional<bool> is_done;        // or refused
    std::optional<std::uint32_t> code;  // of the outcome
    schemas::pagination page;
};

/// Newest first. Errors: invalid_argument for a page that cannot be used.
result<search_pointer<schemas::audit_row>> search_audit(const state::state_view&, audit_question);

/// The seal of all rows of this state, whose newest record is at `offset`; without its signature.
schemas::audit_seal unsigned_audit_seal(const state::state_view&, std::uint64_t offset);
/// At most `rows_max` rows by ascending sequence, beginning at `from`; none behind the head's last.
std::vector<schemas::audit_row> audit_rows_from(const state::state_view&, const schemas::audit_head&,
                                                std::uint64_t from, std::size_t rows_max);

}  // namespace herald::storage::registry::find
