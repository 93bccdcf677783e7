// Finds models and versions by predicates (wire.md §3, client_calls.md §5): read-only, and only what the user
// may read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schemas/find.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

template <class Row>
struct found_page {
    std::vector<Row> rows;
    std::uint64_t total_records = 0;  // on all pages
    std::string next_page_token;      // empty: these are the last
    bool is_cut = false;              // all rows were asked for, and these are not all
};

/// Asked from time to time: whether the search has taken too long.
using late_check = std::function<bool()>;

/// Searches one workspace (not_found when there is none of that name) or everything that the user may read.
/// A row that is there throughout, with an unchanged sort key, comes exactly once to who follows the tokens.
/// Errors: not_found; invalid_argument for a key, value or operator that cannot be used, for a token of
/// another request, and beyond the bounds: limits::find_values_max values to compare with,
/// limits::find_answer_bytes_max of rows in the page, and a search that is late.
result<found_page<schemas::registered_model>> find_models(const state::state_view&, schemas::user_id,
                                                          const schemas::find_request&, const late_check&);
/// As find_models; also within one model, by id or by workspace and name.
result<found_page<schemas::model_version>> find_versions(const state::state_view&, schemas::user_id,
                                                         const schemas::find_request&, const late_check&);

}  // namespace herald::storage::registry::find
