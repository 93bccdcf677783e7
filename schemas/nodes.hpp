// Rows about API nodes: who they are, which job they hold, how far they have published. What a heartbeat
// writes here is frozen: nodes of all versions apply it (design.md §1 "Levels").
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

/// How far one output partition has been published.
struct published_position {
    std::string topic;
    std::uint32_t partition = 0;
    std::uint64_t sequence = 0;

    HERALD_DESCRIBE(topic, partition, sequence);
};

/// A job that only one node of a cluster does at a time.
enum class job : std::uint8_t { publisher, webhook_health, snapshot, artifact_collector, builder, replay };
template <>
inline constexpr auto enum_names<job> =
    in_order<job>("publisher", "webhook-health", "snapshot", "artifact-collector", "builder", "replay");
/// The name in commands and rows.
inline std::string job_name(job which) { return std::string(name_of(which)); }

/// The holder of a job. The token is the offset of the winning claim.
struct claim_row {
    std::string job;
    std::string node;
    uuid boot{};
    std::uint64_t token = 0;

    HERALD_DESCRIBE(job, node, boot, token);
};

/// What the log says about an API node.
struct node_row {
    std::string node;
    uuid boot{};
    std::int64_t last_heartbeat_ms = 0;  // log time
    std::uint64_t applied_offset = 0;
    std::uint32_t level = 0;
    std::uint64_t boot_offset = 0;  // offset of the boot's first heartbeat: a later boot has a higher one
    // As in the heartbeat (schemas/commands/nodes.hpp):
    std::int64_t isolation_grace_ms = 0;
    std::vector<std::string> runtimes;
    bool serves_predictions = false;

    HERALD_DESCRIBE(node, boot, last_heartbeat_ms, applied_offset, level, boot_offset, isolation_grace_ms,
                    runtimes, serves_predictions);
};

/// A process whose node name another one took, and that did not say that it stops: it may still answer
/// predictions.
struct replaced_process {
    uuid boot{};
    std::uint64_t applied_offset = 0;  // as in its newest heartbeat
    std::int64_t serves_until_ms = 0;  // log time: it has stopped by itself by then

    HERALD_DESCRIBE(boot, applied_offset, serves_until_ms);
};

/// Such processes of a node (promise P7), in the order in which they were replaced.
struct replaced_processes_row {
    std::string node;
    std::vector<replaced_process> processes;

    HERALD_DESCRIBE(node, processes);
};

}  // namespace herald::schemas
