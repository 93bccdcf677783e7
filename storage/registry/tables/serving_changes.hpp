// Which rows a write touched that say where predictions go: so that who serves looks at what has changed, and
// at nothing else.
#pragma once

#include <vector>

#include "schemas/endpoints.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// Rows that were written or erased, some of them several times. As many as there were in the write, which is
/// bounded.
class serving_changes {
  public:
    serving_changes() = default;
    explicit serving_changes(const state::row_changes&);
    serving_changes& operator|=(const serving_changes& more);

    bool empty() const noexcept {
        return endpoints.empty() && stages.empty() && updates.empty() && builds.empty() &&
               unsafe_reports.empty() && versions.empty() && models.empty() && users.empty();
    }

    std::vector<schemas::uuid> endpoints;
    std::vector<schemas::endpoint_stage_id> stages;  // or a token of theirs
    std::vector<schemas::update_id> updates;
    std::vector<schemas::build_id> builds;
    /// Reported unsafe, also where the same write erased the build's row. Added by who applies the reports.
    struct unsafe_report {
        schemas::build_id build;
        schemas::scan_id scan;
    };
    std::vector<unsafe_report> unsafe_reports;
    // What headers are made of:
    std::vector<schemas::version_id> versions;
    std::vector<schemas::model_id> models;
    std::vector<schemas::user_id> users;

  private:
    void add(std::string_view key);
};

}  // namespace herald::storage::registry::tables
