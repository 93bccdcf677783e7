// Marks of deleted things with rows that are still to be erased (storage/registry/rules/removal.hpp). A
// deleted model's or version's own row is gone already.
#pragma once

#include <optional>

#include "schemas/describe.hpp"
#include "schemas/ids.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

class deleted_models final {
  public:
    /// `next`: its versions before this one are erased.
    static void put(state::state_changes&, schemas::model_id, schemas::version_id next);
    static void erase(state::state_changes&, schemas::model_id);
    /// The version with which its removal goes on; 0: the first.
    static schemas::version_id next_version(const state::state_view&, schemas::model_id);
    /// Its versions then count as deleted, too.
    static bool has(const state::state_view&, schemas::model_id);
    /// The one with the lowest id from `from` on; empty when there is none.
    static std::optional<schemas::model_id> first(const state::state_view&, schemas::model_id from);
};

/// Where the removal of a version's rows goes on; 0: at the first. Everything before is erased.
struct removal_place {
    schemas::workspace_id workspace;  // of its builds
    schemas::build_id build;          // in that workspace
    schemas::scan_id scan;            // of that build
    schemas::activity_id activity;

    HERALD_DESCRIBE(workspace, build, scan, activity);
};

class deleted_versions final {
  public:
    static void put(state::state_changes&, schemas::version_id, const removal_place&);
    static void erase(state::state_changes&, schemas::version_id);
    static removal_place place_of(const state::state_view&, schemas::version_id);
    /// The one with the lowest id from `from` on; empty when there is none.
    static std::optional<schemas::version_id> first(const state::state_view&, schemas::version_id from);
};

}  // namespace herald::storage::registry::tables
