// What every table of rows with keys offers. A table is described once, in its .cpp (description.hpp): the
// letter of its rows, which part of a row is its key, and one line for each index. Keys stay in that file.
//
// All functions are static: the rows are in the state that is passed in. Reading throws state_corrupt for a
// row that does not decode or is stored under another row's key; writing a row whose id is 0 is a bug and
// ends the process.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

/// Called for each row of a range, in ascending order of id; returns false to stop.
template <class Item>
using visitor = std::function<bool(const Item&)>;

/// Gets each name of a range and the id to which it leads; returns false to stop.
template <class Id>
using name_visitor = std::function<bool(std::string_view name, Id)>;
enum class name_order : std::uint8_t { ascending, descending };  // by their bytes

/// A row and its bytes in the state.
template <class Row>
struct stored {
    Row row;
    std::size_t bytes = 0;
};

/// `Key` is an id, a UUID or, for rows found by name, a text.
template <class Row, class Key>
class keyed_table {
  public:
    using row_type = Row;

    /// Empty when there is none.
    static std::optional<Row> find(const state::state_view&, const Key&);
    static std::optional<stored<Row>> find_stored(const state::state_view&, const Key&);
    static bool has(const state::state_view&, const Key&);
    /// All rows, by ascending key; names sort by their bytes.
    static void each(const state::state_view&, const visitor<Row>&);

    /// All rows with this key or a later one.
    static void each_from(const state::state_view&, const Key&, const visitor<Row>&);

    /// The row with this key, or else the next one; empty behind the last.
    static std::optional<Row> first_from(const state::state_view&, const Key&);
    /// The row with the highest key; empty when there is none.
    static std::optional<Row> last(const state::state_view&);

    /// Writes the row and all its index entries, including those that exist already; in a table with lists
    /// (lists.hpp) the row must be a new one.
    static void put(state::state_changes&, const Row&);
    /// The same, by a caller who has the row's bytes already.
    static void put(state::state_changes&, const Row&, std::string encoded);
    /// Writes the row, erases the index entries that only `before` has and writes the new ones. Both rows
    /// have the same key; `before` is the row as stored.
    static void update(state::state_changes&, const Row& before, const Row& after);
    /// Erases the row and all its index entries; `row` is the row as stored.
    static void erase(state::state_changes&, const Row& row);
};

}  // namespace herald::storage::registry::tables
