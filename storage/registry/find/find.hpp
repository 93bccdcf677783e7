// Finds models and versions by predicates (wire.md §3, client_calls.md §5): read-only, and only what the user
// may read.
#pragma once

#include <vector>

#include "schemas/find.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

template <class Row>
struct found_page {
    std::vector<Row> rows;
    std::uint64_t total_records = 0;
};

/// Searches one workspace (not_found when there is none of that name) or everything that the user may read.
/// Errors: not_found; invalid_argument for a key, value or operator that cannot be used, and beyond the
/// bounds: limits::find_values_max values to compare with, limits::list_rows_max rows to look at,
/// limits::find_answer_bytes_max of rows in the page.
result<found_page<schemas::registered_model>> find_models(const state::state_view&, schemas::user_id,
                                                          const schemas::find_request&);
/// As find_models; also within one model, by id or by workspace and name.
result<found_page<schemas::model_version>> find_versions(const state::state_view&, schemas::user_id,
                                                         const schemas::find_request&);

}  // namespace herald::storage::registry::find
