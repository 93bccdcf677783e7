// How the process's file descriptors are shared out (design.md §1 "Resources").
#pragma once

#include <cstddef>

namespace herald::runtime {

/// The rest (a quarter where descriptors are few) is for the process itself: event loops, the log's client,
/// name look-ups, the databases' own logs, connections that are just being closed.
struct descriptor_shares {
    std::size_t limit = 0;           // all descriptors
    std::size_t clients = 0;         // connections of HTTP clients
    std::size_t receivers = 0;       // connections to receivers of webhooks
    std::size_t database_files = 0;  // open at a time, for each of three databases
};

/// Clients get all of limits::connections_max when there are many descriptors, and a quarter when there are
/// few.
descriptor_shares share_descriptors(std::size_t limit) noexcept;

/// Raises the soft limit (often 1,024) to the hard one, shares out the result, and logs it.
descriptor_shares take_descriptors();

}  // namespace herald::runtime
