// Rules of design.md §1 and §2 broken on purpose, each by something between a process and its log or state:
// the product's own code has no switch for it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/node_failure.hpp"
#include "storage/registry/state/state.hpp"
#include "tests/simulation/changed_apply.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {

std::unique_ptr<events::log::partitioned_log> same_log(events::log::partitioned_log&,
                                                       const storage::registry::state::state_store&);
std::unique_ptr<storage::registry::state::state_store> same_store(storage::registry::state::state_store&);

/// A type of command that no version knows.
constexpr auto unknown_command = schemas::commands::command_type{9'999};

struct mutation {
    /// What a process is given in place of its log; `state` is the node's.
    using log_wrapper = std::function<std::unique_ptr<events::log::partitioned_log>(
        events::log::partitioned_log&, const storage::registry::state::state_store& state)>;
    using store_wrapper = std::function<std::unique_ptr<storage::registry::state::state_store>(
        storage::registry::state::state_store&)>;

    std::string_view name;
    std::string_view what;
    log_wrapper node_log = same_log;
    log_wrapper worker_log = same_log;
    store_wrapper node_store = same_store;
    apply_change apply = {};
    /// Changes why a node ends, before anything is done about it.
    std::function<void(storage::node::node_failure&)> failure = {};
};

/// Those of design.md §1 and wire.md §3.
std::vector<mutation> log_rule_mutations();

/// The first, with an empty name, breaks nothing.
const std::vector<mutation>& all_mutations();
/// Throws std::invalid_argument for an unknown name.
const mutation& mutation_named(std::string_view name);

/// Not a mutation but a fault: for one assignment in three, what was committed with the offset is lost.
std::unique_ptr<events::log::partitioned_log> losing_positions(events::log::partitioned_log&, dice&);

}  // namespace herald::test
