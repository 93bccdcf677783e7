// Who may have how many of the process's file descriptors (design.md §1 "Resources").
#pragma once

#include <cstddef>

namespace herald::runtime {

/// What no share names, a quarter where descriptors are few, is for the process itself: event loops, the
/// log's client, names that are looked up, the databases' own logs, connections that are just being closed.
struct descriptor_shares {
    std::size_t limit = 0;           // all of them
    std::size_t clients = 0;         // connections of HTTP clients
    std::size_t receivers = 0;       // connections to receivers of webhooks
    std::size_t database_files = 0;  // open at a time, for each of three databases
};

/// All of limits::connections_max where there are many; a quarter is for clients where there are few.
descriptor_shares share_descriptors(std::size_t limit) noexcept;

/// Raises the soft limit (often 1,024) to the hard one, shares out what there is then, and tells the log.
descriptor_shares take_descriptors();

}  // namespace herald::runtime
