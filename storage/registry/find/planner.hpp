// How a find gets at its rows: from the index that leaves the fewest, in the wanted order where it has it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/find/sources.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// Where the caller looks and may look: the workspaces, sorted; or one model in one of them.
struct find_scope {
    std::vector<std::uint64_t> workspaces;
    std::optional<std::uint64_t> model;
};

struct plan {
    /// Every row that matches is in one of them; in two only by two of `labels`.
    std::deque<source> sources;
    number_range ids;                             // of rows that match
    number_range times;                           // of their last change
    std::optional<std::set<std::uint64_t>> only;  // if set, of these ids
    std::vector<condition> on_glimpses;           // to be tried on the members that sources have
    std::vector<condition> on_rows;               // to be tried on rows
    std::vector<std::string> labels;              // asked for together, sorted
    bool hides_deleted = false;                   // versions of deleted models are among them
    /// The sources say less than this find must know.
    bool reads_rows = false;
    /// Ids that may be of rows outside the scope.
    bool checks_scope = false;
    /// Each source comes in the order of the page.
    bool is_in_order = false;
    /// How many rows match, where counts say so.
    std::optional<std::uint64_t> total;
};

/// `only`: ids that the request names, sorted; empty: any.
template <class Table>
plan plan_of(const state::state_view&, const find_scope&, std::vector<condition>,
             std::vector<std::uint64_t> only, const page_of_rows&);

}  // namespace herald::storage::registry::find
