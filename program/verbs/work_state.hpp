// The state of an installation for an operator's command, beside running nodes or after them.
#pragma once

#include <filesystem>
#include <memory>

#include "events/log/log.hpp"
#include "program/options/settings.hpp"
#include "storage/registry/engine/engine.hpp"

namespace herald::program {

/// Up to the log's end. A stopped standalone's own database is used, and brought up to the end; on Kafka the
/// state is made in a folder that is removed with this, `beside` a file of the operator's (it is as large as
/// the registry, and the folder for temporary files is often in memory), or where that cannot be written, in
/// TMPDIR.
class work_state {
  public:
    virtual ~work_state() = default;
    virtual storage::registry::state::state_store& rows() const = 0;
    virtual const storage::registry::engine::engine_position& position() const = 0;
};

/// Errors: those of the log and of the state database.
result<std::unique_ptr<work_state>> make_work_state(const settings&, events::log::partitioned_log&,
                                                    const std::filesystem::path& beside);
/// In a folder that stays.
result<std::unique_ptr<work_state>> make_work_state_in(const std::filesystem::path& folder,
                                                       events::log::partitioned_log&);
/// The state of a log that was begun with a backup, at the record that ended its restore; later records do
/// not count. In a folder that is removed with this; empty when the restore has not ended.
result<std::unique_ptr<work_state>> make_restored_state(const std::filesystem::path& beside,
                                                        events::log::partitioned_log&);

}  // namespace herald::program
