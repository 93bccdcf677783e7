// Writes the audit: a row for each command of a principal, and for what happens without one. A part of apply:
// pure and deterministic.
#pragma once

#include <string_view>

#include "storage/registry/audit/subject.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::audit {

/// Whether the command of the context gets a row: one of a user or of an operator but
/// genesis and restore_rows.
bool is_audited(const context::rule_context&);

/// Adds the row of the context's command, and where needed the timer that drops rows after
/// limits::audit_kept_ms. `about`: the result of subject_of() before the command was applied.
void add(context::rule_context&, subject about, const schemas::commands::outcome&);

/// Adds a row for what nobody asked for at this moment, as when a webhook is disabled: `action` as if by a
/// command, by no user.
void add_by_itself(context::rule_context&, std::string_view action, const subject& about);

/// The timer audit_sweep: drops old rows, a few hundred at a time.
void sweep(context::rule_context&);

}  // namespace herald::storage::registry::audit
