// The part that all searches share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "storage/registry/find/find.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::storage::registry::find {

/// Counts what a search passes, and asks from time to time whether to stop here.
class pace {
  public:
    explicit pace(const enough_check& enough) : x_enough(enough) {}
    /// False once it is enough.
    bool pass() {
        if (++x_seen % limits::find_rows_between_looks == 0 && x_enough()) x_goes_on = false;
        return x_goes_on;
    }

  private:
    const enough_check& x_enough;
    std::size_t x_seen = 0;
    bool x_goes_on = true;
};

/// The rows of a chosen page, some at a time.
template <class Table>
class rows_of_page {
  public:
    void begin(std::vector<std::uint64_t> ids) { x_ids = std::move(ids); }
    std::vector<typename Table::row_type> next(const state::state_view& state) {
        std::vector<typename Table::row_type> rows;
        std::size_t bytes = 0;
        while (x_read < x_ids.size() && bytes < limits::find_piece_bytes &&
               rows.size() < limits::find_piece_rows_max) {
            auto stored = Table::find_stored(state, {x_ids[x_read++]});
            if (!stored) continue;
            bytes += stored->bytes;
            rows.push_back(std::move(stored->row));
        }
        return rows;
    }

  private:
    std::vector<std::uint64_t> x_ids;
    std::size_t x_read = 0;
};

/// A search that looks at rows in one pass and adds those that are wanted to its page.
template <class Table>
class passing_search : public search<typename Table::row_type> {
  public:
    using row_type = typename Table::row_type;

    bool go_on(const enough_check& enough) final {
        pace pace(enough);
        x_is_done = x_is_done || look_on(pace);
        return x_is_done;
    }
    result<chosen_page> take() final {
        auto chosen = std::move(x_page).choose(std::nullopt);
        if (chosen) x_rows.begin(chosen->ids);
        return chosen;
    }
    std::vector<row_type> read() final {
        std::vector<row_type> rows = x_rows.next(x_state);
        for (row_type& row : rows) correct(row);
        return rows;
    }

  protected:
    passing_search(const state::state_view& state, page_of_rows page)
        : x_state(state), x_page(std::move(page)) {}

    /// Goes on from where it was; false as soon as the pace says that it is enough.
    virtual bool look_on(pace&) = 0;
    /// What is shown of a row.
    virtual void correct(row_type&) {}
    /// Those of a higher rank come behind all others, where the page is not sorted by id alone.
    void add(std::uint64_t id, std::int64_t rank = 0) { x_page.add(x_page.place_of(id, {}, rank)); }
    const state::state_view& state() const noexcept { return x_state; }

  private:
    const state::state_view& x_state;
    page_of_rows x_page;
    rows_of_page<Table> x_rows;
    bool x_is_done = false;
};

/// Looks at each row of a table.
template <class Table>
class filtering_search final : public passing_search<Table> {
  public:
    using typename passing_search<Table>::row_type;

    filtering_search(const state::state_view& state, std::function<bool(const row_type&)> is_wanted,
                     page_of_rows page)
        : passing_search<Table>(state, std::move(page)), x_is_wanted(std::move(is_wanted)) {}

  private:
    bool look_on(pace& pace) override {
        bool goes_on = true;
        Table::each_from(this->state(), {x_next}, [&](const row_type& row) {
            x_next = row.id.value + 1;
            if (x_is_wanted(row)) this->add(row.id.value);
            return goes_on = pace.pass();
        });
        return goes_on;
    }

    const std::function<bool(const row_type&)> x_is_wanted;
    std::uint64_t x_next = 0;
};

/// Ids are given in the order of time, so they are what the page is sorted by: no row is read to be placed.
/// `asked`: as page_of_rows::of.
inline result<page_of_rows> page_by_age(const std::optional<schemas::pagination>& pagination,
                                        std::string_view asked, bool is_ascending = true) {
    schemas::find_request request;
    request.sort_key = "time_created";
    request.ascending = is_ascending;
    request.pagination = pagination;
    return page_of_rows::of(request, asked);
}

/// A search for that page. Errors: those of the page.
template <class Search, class... Parts>
result<search_pointer<typename Search::row_type>> begun(result<page_of_rows> page,
                                                        const state::state_view& state, Parts&&... parts) {
    if (!page) return page.error();
    return search_pointer<typename Search::row_type>(
        std::make_unique<Search>(state, std::forward<Parts>(parts)..., *std::move(page)));
}

}  // namespace herald::storage::registry::find
