// The rows that a find looks at: ranges of an index, or ids. A source is walked bit by bit, and gives the
// members of each row that its index has.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/lists.hpp"

namespace herald::storage::registry::find {

/// The rows of a list, by time_updated.
struct listed_source {
    tables::row_list list;
    std::size_t label = 0;  // which of the labels asked for
};
/// The models of a workspace, or the versions of a model: by id, or by name.
struct children_source {
    std::uint64_t parent = 0;
};
struct names_source {
    std::uint64_t parent = 0;
};
/// Those that have one of these names.
struct named_source {
    std::uint64_t parent = 0;
    std::vector<std::string> names;
};
/// Ids that are not known to exist; sorted.
struct ids_source {
    std::vector<std::uint64_t> ids;
};
struct span_source {
    number_range ids;
};
/// Versions: for each model of the workspace the source of its versions.
struct models_source {
    std::uint64_t workspace = 0;
    std::variant<names_source, named_source> each;
};
using source = std::variant<listed_source, children_source, names_source, named_source, ids_source,
                            span_source, models_source>;

/// Goes on behind `at` (empty: at the beginning), ascending or descending by what the source is ordered by;
/// ids always ascend. The visitor returns false to stop. Not for a models_source.
template <class Table>
void walk(const state::state_view&, const source&, bool ascending, const std::optional<place_in_order>& at,
          const std::function<bool(const glimpse&)>& visit);

/// The next sources of a models_source, which then goes on behind them; none: it has no more.
std::deque<source> next_of(const state::state_view&, models_source&, std::optional<place_in_order>& at);

}  // namespace herald::storage::registry::find
