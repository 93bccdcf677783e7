// Commands from an operator at the machine, next to running nodes.
#pragma once

#include "events/log/log.hpp"
#include "schemas/commands/installation.hpp"

namespace herald::program {

/// Fills in the rest of the envelope and waits until the log has the command. A standalone applies it at its
/// next start, which may be up to 24 h later. Errors: those of the log.
result<void> append_command(events::log::partitioned_log&, const schemas::commands::genesis&,
                            schemas::commands::command_envelope);

/// Appends who may change webhooks. Errors: those of the log.
result<void> append_webhooks_by(events::log::partitioned_log&, const schemas::commands::genesis&,
                                schemas::webhooks_by);

}  // namespace herald::program
