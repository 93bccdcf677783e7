// A rule of apply broken on purpose: apply is given changed records, rows or timers, the same on every node
// and in the reference, so that the nodes still agree and only the rule itself can show it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "events/log/log.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/context/rule_context.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::test {

/// What apply gets in place of the real values. Members that are not set change nothing.
struct apply_change {
    /// Called with the state as it was before the record.
    std::function<void(events::log::record&, const storage::registry::state::state_view& before)> record;
    /// Rows that are hidden while the command is applied.
    std::function<bool(const schemas::commands::command_envelope&, std::string_view key)> hidden;
    /// Changes rows as they are read, by their keys, while the command is applied.
    std::function<void(const schemas::commands::command_envelope&, std::int64_t now_ms, std::string_view key,
                       std::string& row)>
        row;
    /// How late timers of that kind are.
    std::function<std::int64_t(storage::registry::context::timer_kind)> late_by_ms;

    bool is_there() const { return record || hidden || row || late_by_ms; }
};

/// Changes the command and seals it again.
std::function<void(events::log::record&, const storage::registry::state::state_view&)> resealed(
    std::function<void(schemas::commands::command_envelope&,
                       const storage::registry::state::state_view& before)>);

/// The log and the store of one engine. Applies one record at a time, so that the state before each record
/// does not depend on how the log is cut into batches.
class changed_apply {
  public:
    /// All arguments must outlive it.
    changed_apply(const apply_change&, events::log::partitioned_log&, storage::registry::state::state_store&);
    ~changed_apply();

    events::log::partitioned_log& log();
    storage::registry::state::state_store& store();
    /// Prepares the record that the engine applies next.
    void change(events::log::record&);

  private:
    struct moment;
    class changed_log;
    class changed_store;
    class changed_view;
    const apply_change& x_change;
    storage::registry::state::state_store& x_to;
    const std::shared_ptr<moment> x_moment;
    std::unique_ptr<events::log::partitioned_log> x_log;
    std::unique_ptr<storage::registry::state::state_store> x_store;
};

}  // namespace herald::test
