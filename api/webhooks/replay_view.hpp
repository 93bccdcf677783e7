// Replays as they are begun and shown (wire.md §7 "replays").
#pragma once

#include "api/calls/handler.hpp"
#include "schemas/answers/replays.hpp"
#include "schemas/commands/deliveries.hpp"

namespace herald::api::webhooks {

/// A text or a number as text; "" for anything else.
std::string plain_text(const schemas::json_text&);

schemas::answers::replay_entry shown(const calls::reading_call&, const schemas::replay&);
/// Begins the replay and answers with it.
calls::response begin(calls::writing_call&, schemas::commands::begin_replay);
/// Answers with what the replay would send. Errors: those of beginning it that reads can know.
calls::response dry_run(calls::writing_call&, schemas::commands::begin_replay);

}  // namespace herald::api::webhooks
