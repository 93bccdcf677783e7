// Why a node cannot go on.
#pragma once

#include <cstdint>
#include <string>

namespace herald::storage::node {

/// The process ends with the exit code that belongs to it (design.md §7).
struct node_failure {
    enum class kind : std::uint8_t {
        log_mismatch,   // the log was cut, made anew or is another's: exit code 3
        log_mixed,      // the same, noticed late: the state may hold both logs and is never to be used again
        level_too_low,  // the log is at a level above this program's: exit code 3, install a newer one
        unknown_command,   // a newer version wrote it: install that
        state_unreadable,  // open it again: what is corrupt is marked and made again from the log
        superseded,        // another process runs under this node's name
        diverged,          // this node's state differs from that of most others: it is to be made again
    };
    kind what = kind::log_mismatch;
    std::string message;
};

}  // namespace herald::storage::node
