// Why a node cannot continue.
#pragma once

#include <cstdint>
#include <string>

namespace herald::storage::node {

/// The process ends with the matching exit code (design.md §7).
struct node_failure {
    enum class kind : std::uint8_t {
        log_mismatch,      // the log was cut, created anew or belongs to another installation: exit code 3
        log_mixed,         // the same, noticed late: the state may mix both logs and must never be used again
        level_too_low,     // the log's level is above this program's: exit code 3, install a newer version
        unknown_command,   // a newer version wrote it: install that one
        state_unreadable,  // open it again: a corrupt state is marked and rebuilt from the log
        superseded,        // another process runs under this node's name
        diverged,          // this node's state differs from most others': it must be rebuilt
    };
    kind what = kind::log_mismatch;
    std::string message;
};

}  // namespace herald::storage::node
