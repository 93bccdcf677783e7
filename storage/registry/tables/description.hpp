// How a table is described: only for the .cpp files of this folder, and their tests.
//
//   template <>
//   struct description<schemas::build> {
//       static constexpr table rows = table::build;
//       static void index(const schemas::build& row, index_entries& entries) {
//           entries.mark(key_of(table::build_of_version).number(row.model_version_id)…);
//       }
//   };
//   template class keyed_table<schemas::build, schemas::build_id>;
//
// One whose rows have another key than their id has a function `key`, one without an index no `index`.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/assert.hpp"
#include "storage/registry/tables/keyed_table.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {

/// The index entries of one row.
class index_entries {
  public:
    /// An entry whose key says everything.
    void mark(std::string key) { x_entries.push_back({std::move(key), std::string()}); }
    /// An entry that leads to an id: for an index by name.
    template <schemas::numeric_id Id>
    void lead(std::string key, Id id) {
        std::string value;
        schemas::append_varint(value, id.value);
        x_entries.push_back({std::move(key), std::move(value)});
    }

    /// The same of a row whose key is a UUID.
    void lead(std::string key, const schemas::uuid& id) {
        x_entries.push_back({std::move(key), std::string(id.begin(), id.end())});
    }

    struct entry {
        std::string key;
        std::string value;
    };
    const std::vector<entry>& all() const& noexcept { return x_entries; }
    std::vector<entry> all() && noexcept { return std::move(x_entries); }

  private:
    std::vector<entry> x_entries;
};

/// Erases the entries that only `old` has, writes those that only `fresh` has.
inline void replace_entries(state::state_changes& state, std::vector<index_entries::entry> old,
                            std::vector<index_entries::entry> fresh) {
    std::ranges::sort(old, {}, &index_entries::entry::key);
    std::ranges::sort(fresh, {}, &index_entries::entry::key);
    const auto has = [](const auto& all, const std::string& key) {
        return std::ranges::binary_search(all, key, {}, &index_entries::entry::key);
    };
    for (const auto& entry : old)
        if (!has(fresh, entry.key)) state.erase(entry.key);
    for (const auto& [key, value] : fresh)
        if (!has(old, key)) state.put(key, value);
}

template <class Row>
struct description;

/// The description of a table whose rows are updated often may say what its index is made of, beside the key:
/// `static auto indexed(const Row& row) { return std::tie(row.name, …); }`. Then an update that changes none
/// of it computes no entries.
template <class Row>
bool are_indexed_alike(const Row& before, const Row& after) {
    if constexpr (requires { description<Row>::indexed(before); })
        return description<Row>::indexed(before) == description<Row>::indexed(after);
    else
        return false;
}

/// The description of a table whose rows are in lists (lists.hpp) says where: `static list_entries
/// listed_in(const Row& row)`, the lists sorted.
template <class Row>
concept in_lists = requires(const Row& row) { description<Row>::listed_in(row); };

template <class Row>
void replace_in_lists(state::state_changes& state, const Row* before, const Row* after) {
    if constexpr (in_lists<Row>) {
        std::optional<list_entries> old, fresh;
        if (before) old = description<Row>::listed_in(*before);
        if (after) fresh = description<Row>::listed_in(*after);
        keep_lists(state, old ? &*old : nullptr, fresh ? &*fresh : nullptr);
    }
}

template <class Row, class Key>
std::string row_key(const Key& key) {
    if constexpr (schemas::numeric_id<Key>)
        return key_of(description<Row>::rows).number(key);
    else if constexpr (schemas::byte_array<Key>)
        return key_of(description<Row>::rows).text(std::string(key.begin(), key.end()));
    else
        return key_of(description<Row>::rows).text(key);
}

template <class Row>
decltype(auto) key_of_row(const Row& row) {
    if constexpr (requires { &description<Row>::key; })
        return description<Row>::key(row);
    else
        return (row.id);
}

template <class Row>
index_entries entries_of(const Row& row) {
    index_entries entries;
    if constexpr (requires { &description<Row>::index; }) description<Row>::index(row, entries);
    return entries;
}

/// The row's own key. Apply assigns the ids, so an id of 0 is a bug; names come from commands.
template <class Row>
std::string key_to_write(const Row& row) {
    auto key = key_of_row(row);
    if constexpr (schemas::numeric_id<decltype(key)>) HERALD_ASSERT(key);
    return row_key<Row>(key);
}

template <class Row>
void read_checked(Row& fresh, std::string_view key, std::string_view value) {
    decode_row_into(fresh, key, value);
    if (row_key<Row>(key_of_row(fresh)) != key)
        throw state::state_corrupt{"a row of table '" + std::string(key.substr(0, 1)) +
                                   "' stands under the key of another"};
}

template <class Row>
Row checked_row(std::string_view key, std::string_view value) {
    Row row{};
    read_checked(row, key, value);
    return row;
}

template <class Row, class Key>
std::optional<Row> keyed_table<Row, Key>::find(const state::state_view& state, const Key& key) {
    const std::string place = row_key<Row>(key);
    std::optional<Row> found;
    state.read(place, [&](std::string_view value) { read_checked(found.emplace(), place, value); });
    return found;
}

template <class Row, class Key>
std::optional<stored<Row>> keyed_table<Row, Key>::find_stored(const state::state_view& state,
                                                              const Key& key) {
    const std::string place = row_key<Row>(key);
    std::optional<stored<Row>> found;
    state.read(place, [&](std::string_view value) {
        read_checked(found.emplace().row, place, value);
        found->bytes = value.size();
    });
    return found;
}

template <class Row, class Key>
bool keyed_table<Row, Key>::has(const state::state_view& state, const Key& key) {
    return has_row(state, row_key<Row>(key));
}

template <class Row, class Key>
void keyed_table<Row, Key>::each(const state::state_view& state, const visitor<Row>& visit) {
    const std::string prefix = key_of(description<Row>::rows);
    state.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
        return visit(checked_row<Row>(key, value));
    });
}

template <class Row, class Key>
void keyed_table<Row, Key>::each_from(const state::state_view& state, const Key& from,
                                      const visitor<Row>& visit) {
    const std::string prefix = key_of(description<Row>::rows);
    state.scan(prefix, row_key<Row>(from), [&](std::string_view key, std::string_view value) {
        return visit(checked_row<Row>(key, value));
    });
}

template <class Row, class Key>
std::optional<Row> keyed_table<Row, Key>::first_from(const state::state_view& state, const Key& from) {
    std::optional<Row> found;
    const std::string prefix = key_of(description<Row>::rows);
    state.scan(prefix, row_key<Row>(from), [&](std::string_view key, std::string_view value) {
        read_checked(found.emplace(), key, value);
        return false;
    });
    return found;
}

template <class Row, class Key>
std::optional<Row> keyed_table<Row, Key>::last(const state::state_view& state) {
    std::optional<Row> found;
    const std::string prefix = key_of(description<Row>::rows);
    state.scan_back(prefix, {}, [&](std::string_view key, std::string_view value) {
        read_checked(found.emplace(), key, value);
        return false;
    });
    return found;
}

template <class Row, class Key>
void keyed_table<Row, Key>::put(state::state_changes& state, const Row& row) {
    put(state, row, schemas::encode(row));
}

template <class Row, class Key>
void keyed_table<Row, Key>::put(state::state_changes& state, const Row& row, std::string encoded) {
    HERALD_ASSERT(schemas::has_only_named_values(row));
    state.put(key_to_write(row), std::move(encoded));
    for (auto& [key, value] : entries_of(row).all()) state.put(std::move(key), std::move(value));
    replace_in_lists<Row>(state, nullptr, &row);
}

template <class Row, class Key>
void keyed_table<Row, Key>::update(state::state_changes& state, const Row& before, const Row& after) {
    std::string place = key_to_write(after);
    HERALD_ASSERT(place == key_to_write(before));
    if (!are_indexed_alike(before, after))
        replace_entries(state, entries_of(before).all(), entries_of(after).all());
    replace_in_lists(state, &before, &after);
    put_row(state, std::move(place), after);
}

template <class Row, class Key>
void keyed_table<Row, Key>::erase(state::state_changes& state, const Row& row) {
    state.erase(key_to_write(row));
    for (auto& entry : entries_of(row).all()) state.erase(std::move(entry.key));
    replace_in_lists<Row>(state, &row, nullptr);
}

/// The ids at the end of the keys in an index range: all entries under `parent`, beginning at `from` (an id
/// of 0: at the first).
template <schemas::numeric_id Id>
void each_id_under(const state::state_view& state, const key_of& parent, Id from, const visitor<Id>& visit) {
    const std::string prefix = parent;
    const std::string start = from ? std::string(key_of(parent).number(from)) : std::string();
    state.scan(prefix, start, [&](std::string_view key, std::string_view) {
        return visit(Id{schemas::read_big_endian(key.substr(key.size() - 8))});
    });
}

/// The same by descending id: all before `before` (an id of 0: all).
template <schemas::numeric_id Id>
void each_id_back_under(const state::state_view& state, const key_of& parent, Id before,
                        const visitor<Id>& visit) {
    const std::string prefix = parent;
    const std::string end = before ? std::string(key_of(parent).number(before)) : std::string();
    state.scan_back(prefix, end, [&](std::string_view key, std::string_view) {
        return visit(Id{schemas::read_big_endian(key.substr(key.size() - 8))});
    });
}

/// The names in an index by name and the ids to which they lead: all under `parent` that come after the name
/// `after` in that direction (none: all).
template <schemas::numeric_id Id>
void each_name_under(const state::state_view& state, const key_of& parent, name_order order,
                     const std::optional<std::string>& after, const name_visitor<Id>& visit) {
    const std::string prefix = parent;
    const auto show = [&](std::string_view key, std::string_view value) {
        return visit(key.substr(prefix.size()), Id{read_number(key, value)});
    };
    if (order == name_order::descending) return state.scan_back(prefix, after ? prefix + *after : "", show);
    state.scan(prefix, after ? prefix + *after + '\0' : "", show);
}

/// The id to which an entry of an index by name leads.
template <schemas::numeric_id Id>
std::optional<Id> id_at(const state::state_view& state, const std::string& key) {
    const auto id = find_number(state, key);
    if (!id) return std::nullopt;
    return Id{*id};
}

}  // namespace herald::storage::registry::tables
