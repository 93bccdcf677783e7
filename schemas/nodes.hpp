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

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "topic", self.topic);
        field(2, "partition", self.partition);
        field(3, "sequence", self.sequence);
    }
};

/// A job that only one node of a cluster does at a time.
enum class job : std::uint8_t { publisher, webhook_health, snapshot, artifact_collector, builder, replay };
template <>
struct enum_names<job> {
    static constexpr std::array<named<job>, 6> all{{{job::publisher, "publisher"},
                                                    {job::webhook_health, "webhook-health"},
                                                    {job::snapshot, "snapshot"},
                                                    {job::artifact_collector, "artifact-collector"},
                                                    {job::builder, "builder"},
                                                    {job::replay, "replay"}}};
};
/// The name in commands and rows.
inline std::string job_name(job which) { return std::string(name_of(which)); }

/// The holder of a job. The token is the offset of the winning claim.
struct claim_row {
    std::string job;
    std::string node;
    uuid boot{};
    std::uint64_t token = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "job", self.job);
        field(2, "node", self.node);
        field(3, "boot", self.boot);
        field(4, "token", self.token);
    }
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

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "node", self.node);
        field(2, "boot", self.boot);
        field(3, "last_heartbeat_ms", self.last_heartbeat_ms);
        field(4, "applied_offset", self.applied_offset);
        field(5, "level", self.level);
        field(6, "boot_offset", self.boot_offset);
        field(7, "isolation_grace_ms", self.isolation_grace_ms);
        field(8, "runtimes", self.runtimes);
        field(9, "serves_predictions", self.serves_predictions);
    }
};

/// A process whose node name another one took, and that did not say that it stops: it may still answer
/// predictions.
struct replaced_process {
    uuid boot{};
    std::uint64_t applied_offset = 0;  // as in its newest heartbeat
    std::int64_t serves_until_ms = 0;  // log time: it has stopped by itself by then

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "boot", self.boot);
        field(2, "applied_offset", self.applied_offset);
        field(3, "serves_until_ms", self.serves_until_ms);
    }
};

/// Such processes of a node (promise P7), in the order in which they were replaced.
struct replaced_processes_row {
    std::string node;
    std::vector<replaced_process> processes;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "node", self.node);
        field(2, "processes", self.processes);
    }
};

}  // namespace herald::schemas
