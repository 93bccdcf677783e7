// GENESIS, the first record of every log: written once, compared at every start (design.md §1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/random.hpp"
#include "schemas/commands/installation.hpp"
#include "storage/node/limits.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::node {

/// What a new installation starts with; ignored for an existing one.
struct genesis_options {
    std::string organization_name = "Default";
    std::string admin_email;
    std::string admin_key;  // the developer key itself; only its hash goes into the log
    std::vector<schemas::stage> require_approval_for;
    /// No part of GENESIS: set by a command, as it may change. Empty: not said.
    std::optional<schemas::webhooks_by> webhooks_by;
};

/// What the first administrator and the first organisation may be called; the rules are those for any user
/// and any workspace. `field` is the name used in the error. Errors: invalid_argument.
result<void> check_admin_email(std::string_view field, std::string_view email);
result<void> check_organization_name(std::string_view field, std::string_view name);

struct log_beginning {
    schemas::commands::genesis genesis;
    bool is_new = false;  // written by this call
};

/// Whether the log has a first record. Blocks up to 30 s. Errors: those of the log; failed_precondition when
/// that record is not GENESIS, or another build made it.
result<bool> has_begun(events::log::partitioned_log&);

/// The GENESIS that the log begins with. Blocks up to `wait_ms`. Errors:
///   not_found            the log is empty
///   failed_precondition  it begins with something else or with another key ring, another build made it
///                        (schemas/stored_format.hpp), or its event topics have another number of
///                        partitions: exit code 3
///   unavailable          the log is out of reach
result<schemas::commands::genesis> read_genesis(events::log::partitioned_log&, const runtime::key_ring&,
                                                std::int64_t wait_ms = limits::genesis_wait_ms_max);

/// As read_genesis, but an empty log first gets GENESIS. Its topics must exist. `state` is what this node has
/// applied so far: if it belongs to a log already, an empty log is failed_precondition. Options with which
/// nobody could sign in are invalid_argument.
result<log_beginning> begin_log(events::log::partitioned_log&, const runtime::key_ring&,
                                const genesis_options&, const registry::state::state_view& state,
                                runtime::random_source&, const runtime::clock&);

/// Whether the key ring opens every secret that the state keeps. GENESIS knows only the ring's oldest key.
/// Errors: failed_precondition, naming what it does not open: exit code 3.
result<void> check_secrets(const registry::state::state_view&, const runtime::key_ring&);

/// GENESIS with a parent (storage/backup/) in an empty log, whose topics must exist; returns the one that the
/// log begins with. Errors: as read_genesis; failed_precondition also when the log holds something else than
/// the same restore.
result<schemas::commands::genesis> continue_log(events::log::partitioned_log&, const runtime::key_ring&,
                                                const schemas::commands::genesis& beginning,
                                                runtime::random_source&, const runtime::clock&);

}  // namespace herald::storage::node
