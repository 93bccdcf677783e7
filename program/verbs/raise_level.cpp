// herald raise-level: an operator raises the level in force to what this program can do, without waiting for
// the nodes to do it (schemas/commands/level.hpp). If older nodes are running, it names them and changes
// nothing.
#include <chrono>
#include <iostream>
#include <thread>

#include "program/parts/append_command.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "schemas/commands/all.hpp"
#include "schemas/commands/limits.hpp"
#include "storage/node/membership.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::program {
namespace {

/// After the no-op: by then every running node has been heard, and one that was just stopped no longer
/// counts.
constexpr std::chrono::milliseconds until_heard{limits::claim_lapse_ms + 1'000};

/// The state that the log gives, up to its end.
result<std::shared_ptr<const storage::registry::state::state_view>> state_of(
    events::log::partitioned_log& log) {
    const auto rows = storage::registry::state::make_memory_state();
    if (const auto applied = apply_log(log, *rows, 0); !applied) return applied.error();
    return rows->view();
}

std::string older_nodes(std::shared_ptr<const storage::registry::state::state_view> state) {
    storage::node::applied_state now;
    now.view = std::move(state);
    std::string names;
    for (const schemas::node_row& node : storage::node::nodes_below(now, schemas::commands::newest_level))
        names += (names.empty() ? "" : ", ") + node.node + " (level " + std::to_string(node.level) + ")";
    return names;
}

/// Errors: unavailable, naming the older nodes; those of the log.
result<void> raise(events::log::partitioned_log& log, const schemas::commands::genesis& genesis) {
    if (const auto heard =
            append_command(log, genesis, schemas::commands::make_envelope(schemas::commands::no_operation{}));
        !heard)
        return heard;
    std::this_thread::sleep_for(until_heard);
    if (const auto asked = append_command(log, genesis,
                                          schemas::commands::make_envelope(schemas::commands::raise_level{
                                              schemas::commands::newest_level}));
        !asked)
        return asked;
    const auto after = state_of(log);
    if (!after) return after.error();
    if (storage::registry::tables::level_in_force(**after) >= schemas::commands::newest_level) return {};
    return runtime::unavailable({"the level stays: upgrade the older nodes first: ", older_nodes(*after)});
}

}  // namespace

process_end run_raise_level(const settings& chosen) {
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    const auto before = state_of(**log);
    if (!before) return failed(before.error());
    const auto genesis = storage::registry::tables::installation::find(**before);
    if (!genesis) return failed(runtime::not_found("there is no installation in this log yet"));
    const std::uint32_t level = storage::registry::tables::level_in_force(**before);
    if (level > schemas::commands::newest_level)
        return failed(runtime::failed_precondition(
            {"the log is at level ", level, " already, above this program's: install a newer program"}));
    if (level < schemas::commands::newest_level)
        if (const auto raised = raise(**log, *genesis); !raised) return failed(raised.error());
    std::cout << "level " << schemas::commands::newest_level << "\n";
    return process_end::done;
}

}  // namespace herald::program
