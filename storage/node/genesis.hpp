// GENESIS, the first record of every log: written once, compared at every start (design.md §1).
#pragma once

#include <string>
#include <vector>

#include "events/log.hpp"
#include "runtime/clock.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/random.hpp"
#include "schemas/commands.hpp"
#include "storage/state.hpp"

namespace herald::storage {

/// What a new installation is made of; says nothing about one that exists.
struct genesis_options {
    std::string organization_name = "Default";
    std::string admin_email;
    std::string admin_key;  // the developer key itself; only its hash goes into the log
    std::vector<schemas::stage> require_approval_for;
};

struct log_beginning {
    schemas::genesis genesis;
    bool is_new = false;  // written by this call
};

/// What the log begins with. Blocks up to 30 s. Errors:
///   not_found            the log is empty
///   failed_precondition  it begins with something else, was begun with another key ring, or its event topics
///                        have another number of partitions: exit code 3
///   unavailable          the log is out of reach
result<schemas::genesis> read_genesis(events::log&, const runtime::key_ring&);

/// As read_genesis; an empty log gets GENESIS first. Its topics must exist. `state` is what this node has
/// applied so far: with one that knows a log already, an empty log is failed_precondition.
result<log_beginning> begin_log(events::log&, const runtime::key_ring&, const genesis_options&,
                                const state_view& state, runtime::random_source&, const runtime::clock&);

}  // namespace herald::storage
