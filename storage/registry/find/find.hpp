// Finds models and versions by predicates (wire.md §3, client_calls.md §5): read-only, and only what the user
// may read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schemas/find.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// Asked from time to time: whether to stop here; it can go on later.
using enough_check = std::function<bool()>;

/// A find on its way through the rows of one view, which must outlive it; on one thread at a time.
template <class Row>
class search {
  public:
    virtual ~search() = default;
    /// Goes on until the page is chosen (true), or until `enough` says so. It looks at
    /// limits::find_rows_between_looks rows before it asks.
    virtual bool go_on(const enough_check& enough) = 0;
    /// The page that was chosen; once. Errors: invalid_argument for a page so deep that too many places
    /// (limits::find_places_bytes_max) would be held.
    virtual result<chosen_page> take() = 0;
    /// After take(): the page's next rows, about limits::find_piece_bytes of them; none: it has no more.
    virtual std::vector<Row> read() = 0;
};
template <class Row>
using search_pointer = std::unique_ptr<search<Row>>;

/// Searches one workspace (not_found when there is none of that name) or everything that the user may read.
/// A row that is there throughout, with an unchanged sort key, comes exactly once to who follows the tokens.
/// Errors: not_found; invalid_argument for a key, value or operator that cannot be used, for a token of
/// another request, and beyond limits::find_values_max values to compare with.
result<search_pointer<schemas::registered_model>> search_models(const state::state_view&, schemas::user_id,
                                                                const schemas::find_request&);
/// As search_models; also within one model, by id or by workspace and name.
result<search_pointer<schemas::model_version>> search_versions(const state::state_view&, schemas::user_id,
                                                               const schemas::find_request&);

/// A search that took longer than it may: invalid_argument, saying which predicate to add.
error too_long();

}  // namespace herald::storage::registry::find
