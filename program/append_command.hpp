// Commands of an operator at the machine, beside the nodes that run.
#pragma once

#include "events/log/log.hpp"
#include "schemas/commands/installation.hpp"

namespace herald::program {

/// Fills what the envelope lacks and waits until the log holds it. A standalone applies it when it is started
/// again: it may take 24 h until then. Errors: those of the log.
result<void> append_command(events::log::partitioned_log&, const schemas::commands::genesis&,
                            schemas::commands::command_envelope);

}  // namespace herald::program
