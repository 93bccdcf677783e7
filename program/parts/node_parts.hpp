// What API nodes and workers are given, and what both do the same way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "events/log/log.hpp"
#include "program/options/settings.hpp"
#include "runtime/descriptors.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/server/server.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/commands/installation.hpp"

namespace herald::program {

/// Everything here must outlive the node or the worker.
struct node_parts {
    events::log::partitioned_log& log;
    const runtime::key_ring& keys;
    runtime::descriptor_shares descriptors;
    runtime::event_loops& jobs;  // one loop; stopped when the node ends
};

struct api_doors;
class start_report;

/// An API node reads attempts on a separate loop, which waits for the disk.
struct api_node_parts : node_parts {
    runtime::event_loops& attempts;               // one loop; stopped when the node ends
    const schemas::commands::genesis& beginning;  // of the log
    api_doors& doors;                             // closed, and their loops stopped, when the node ends
};

/// The loop of a node's jobs, or of a worker. It outlives the log, whose destructor answers the last
/// questions: the answers are posted to the stopped loop and dropped with it.
inline constexpr runtime::event_loops_options one_loop{.loops = 1, .cores = {}, .blocking_threads = 0};

/// Logs the version, the address, and which webhooks are allowed: public addresses plus any that the operator
/// allowed; http or only https.
void log_that_it_runs(std::string_view event, const settings&, const std::string& where);

/// The settings for a served address, with this many connections in total and one client's share of them.
runtime::http::server::server_options server_options_at(const settings&, const endpoint&,
                                                        std::size_t connections);

}  // namespace herald::program
