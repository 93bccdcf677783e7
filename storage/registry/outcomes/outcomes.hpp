// Safe repeats: the outcome for each (principal, method and path, Idempotency-Key), kept for 24 h of log
// time.
#pragma once

#include <optional>

#include "schemas/commands/envelope.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::outcomes {

/// The outcome for a repeat: the stored one, or already_exists when the key was used for another request.
/// Empty when the request carries no key or the key is new.
std::optional<schemas::commands::outcome> find_outcome(const state::state_view&,
                                                       const schemas::commands::request_identity&);
/// Whether what find_outcome() returned is the stored outcome, and not a refusal of another request.
bool is_repeat(const schemas::commands::outcome&, const schemas::commands::request_identity&);
/// False when limits::outcome_rows_max or outcome_bytes_max is reached and this request would need another
/// row.
bool has_room_for_outcome(const state::state_view&, const schemas::commands::request_identity&);
/// Stores the outcome if the command carries a key, and returns it.
schemas::commands::outcome keep_outcome(context::rule_context&, schemas::commands::outcome);
/// Timer outcome_sweep: drops the outcomes of one hour, a few hundred at a time. `key` is the hour.
void sweep_outcomes(context::rule_context&, std::string_view key);

}  // namespace herald::storage::registry::outcomes
