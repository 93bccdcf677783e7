// What API nodes report about themselves in the log. Numbers 2 to 9.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/level.hpp"
#include "schemas/nodes.hpp"

namespace herald::schemas::commands {

struct no_operation {
    static constexpr command_type type{2};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    static constexpr void describe(auto&, auto&&) {}
};

/// What it writes to the state is frozen. Fields may be added that only other nodes read, not apply.
struct node_heartbeat {
    static constexpr command_type type{3};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    std::string node;
    uuid boot{};
    std::uint64_t applied_offset = 0;  // of the node's newest record when it spoke
    // Apply does not look at these three; the other nodes compare them with what they have
    // (storage/node/peer_hashes.hpp).
    std::string record_hash;  // SHA-256 of that record
    std::string state_hash;   // the state's rolling hash after it
    /// Another node differs, and this node has since read its records in the log again: they match the log.
    bool vouches = false;
    std::uint32_t newest_level = commands::newest_level;  // of the sending program
    std::vector<published_position> published;            // from the publisher only
    std::uint64_t publisher_token = 0;
    /// This is the boot's first heartbeat: only a first one may replace another boot of the same node.
    bool first = false;
    /// This is the boot's last heartbeat: its claims become free.
    bool last = false;
    /// How long the node may serve predictions while the log is out of reach.
    std::int64_t isolation_grace_ms = 0;
    std::vector<std::string> runtimes;  // runtimes for models that the program has
    bool serves_predictions = false;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(node, boot, applied_offset, record_hash, state_hash);
        field(6, "level", self.newest_level);
        field(7, "published", self.published);
        field(8, "publisher_token", self.publisher_token);
        field(9, "first", self.first);
        field(10, "last", self.last);
        field(11, "vouches", self.vouches);
        field(12, "isolation_grace_ms", self.isolation_grace_ms);
        field(13, "runtimes", self.runtimes);
        field(14, "serves_predictions", self.serves_predictions);
    }
};

/// Asks for a job by name; the first one wins. → claim_row
/// With lets_go: gives up the job that it holds. → nothing
struct claim {
    static constexpr command_type type{4};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    std::string job;
    std::string node;
    uuid boot{};
    bool lets_go = false;

    HERALD_DESCRIBE(job, node, boot, lets_go);
};

using node_commands = command_list<no_operation, node_heartbeat, claim>;

}  // namespace herald::schemas::commands
