// A search of the registry from its beginning to the last row of its page, in one piece.
#pragma once

#include <vector>

#include "storage/registry/find/find.hpp"

namespace herald::test {

template <class Row>
struct found_page {
    std::vector<Row> rows;
    std::uint64_t total_records = 0;
    std::string next_page_token;
    bool is_cut = false;
};

inline bool never_late() { return false; }

/// Errors: those of the search; too_long() when `late` says so.
template <class Row>
result<found_page<Row>> whole(result<storage::registry::find::search_pointer<Row>> search,
                              const storage::registry::find::enough_check& late = never_late) {
    if (!search) return search.error();
    if (!(*search)->go_on(late)) return storage::registry::find::too_long();
    const auto chosen = (*search)->take();
    if (!chosen) return chosen.error();
    found_page<Row> page{{}, chosen->total_records, chosen->next_page_token, chosen->is_cut};
    for (auto rows = (*search)->read(); !rows.empty(); rows = (*search)->read())
        page.rows.insert(page.rows.end(), rows.begin(), rows.end());
    return page;
}

}  // namespace herald::test
