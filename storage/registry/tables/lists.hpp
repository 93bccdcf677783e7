// Lists of models and of versions that finds walk: all of a workspace or of a model, and those that share a
// label, a stage, an owner or a run. In a list the row that was changed last is the first; of equal times,
// the one with the higher id. How many rows a list has is a row itself. A list of builds knows no times.
//
//   list  := kind, workspace or model, (text | number)?       kind: one byte
//   entry := letter list ~time_updated ~id → varint: the model (versions), "" (models)
//   count := '0' letter list → varint                         no row: 0
//
// Versions of a model that was erased stay in their lists until they are erased themselves. Such models are
// marked (deletions.hpp), so that a walk of a list can leave those versions out.
//
// A table keeps them with its rows (description.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// The name of a list.
class row_list {
  public:
    static row_list models_of(schemas::workspace_id);
    static row_list models_labelled(schemas::workspace_id, std::string_view label);
    static row_list models_owned_by(schemas::workspace_id, schemas::user_id);
    static row_list versions_of(schemas::workspace_id);
    static row_list versions_of(schemas::model_id);
    static row_list versions_labelled(schemas::workspace_id, std::string_view label);
    /// Versions that are UNASSIGNED, as most are, are in no list of their stage.
    static row_list versions_in(schemas::workspace_id, schemas::stage);
    static row_list versions_owned_by(schemas::workspace_id, schemas::user_id);
    /// Versions without a run are in no list of one.
    static row_list versions_of_run(schemas::workspace_id, std::string_view experiment_run_id);
    static row_list builds_of(schemas::workspace_id);

    const std::string& key() const noexcept { return x_key; }
    friend auto operator<=>(const row_list&, const row_list&) = default;

  private:
    explicit row_list(std::string key) : x_key(std::move(key)) {}

    std::string x_key;
};

/// Where a row stands in a list, and the model of a version.
struct listed {
    std::int64_t time_updated = 0;
    std::uint64_t id = 0;
    std::uint64_t model = 0;
};

enum class list_order : std::uint8_t { newest_first, oldest_first };

namespace lists {

/// How many rows are in the list.
std::uint64_t count(const state::state_view&, const row_list&);
/// The rows of the list that come after this place in that order (none: all); the visitor returns false to
/// stop.
void each(const state::state_view&, const row_list&, list_order, const std::optional<listed>& after,
          const std::function<bool(const listed&)>& visit);

}  // namespace lists

/// What the lists have of one row; only for description.hpp.
struct list_entries {
    listed place;
    std::vector<row_list> in;  // sorted, each once

    void sort();
};
/// Takes the row from where it was and puts it where it belongs. A null `before`: a new row; a null `after`:
/// an erased one.
void keep_lists(state::state_changes&, const list_entries* before, const list_entries* after);

}  // namespace herald::storage::registry::tables
