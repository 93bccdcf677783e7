// Which of the rows that a find call matched are on its page (wire.md §1), in bounded memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/find.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::storage::registry::find {

/// The place of a row in the requested order: by its sort key, then by its id. One of `name` and `time_ms` is
/// the sort key; for time_created neither: ids are given in the order of creation.
struct place_in_order {
    std::string name;
    std::int64_t time_ms = 0;
    std::uint64_t id = 0;

    HERALD_DESCRIBE(name, time_ms, id);
    friend auto operator<=>(const place_in_order&, const place_in_order&) = default;
};

enum class sort_key : std::uint8_t { time_updated, time_created, name };

/// The page, without its rows.
struct chosen_page {
    std::vector<std::uint64_t> ids;   // of its rows, in order
    std::uint64_t total_records = 0;  // on all pages
    std::string next_page_token;      // empty: these are the last
    bool is_cut = false;              // all rows were asked for, and these are not all
};

/// Errors: invalid_argument for numbers that no page has, and for a page_number beside a page_token.
result<void> check_paging(const schemas::pagination&);

/// Takes the places of matching rows in any order, and holds no more than the pages up to the one asked for:
/// of those up to limits::find_places_bytes_max.
class page_of_rows {
  public:
    /// `asked`: what is searched for (storage/registry/find/question.hpp). Errors: invalid_argument for a
    /// sort_key, page_number, page_limit or page_token that cannot be used.
    static result<page_of_rows> of(const schemas::find_request&, std::string_view asked);

    sort_key key() const noexcept { return x_key; }
    bool is_ascending() const noexcept { return x_ascending; }
    /// The last row of the page before this one; empty without a token.
    const std::optional<place_in_order>& after() const noexcept { return x_after; }
    /// What is added comes in order, and is not counted: then rows of earlier pages need not be held.
    void expect_in_order() noexcept { x_in_order = true; }
    /// How many places behind after() decide about the page, from each source that comes in order.
    std::uint64_t wanted() const noexcept { return x_skipped + x_limit + 1; }
    /// Whether the place is behind after().
    bool is_behind_token(const place_in_order& place) const { return !x_after || is_before(*x_after, place); }

    place_in_order place_of(std::uint64_t id, std::string_view name, std::int64_t time_updated) const;
    void add(place_in_order);
    /// There are more places up to the page than may be held; further rows are ignored.
    bool is_too_deep() const noexcept { return x_bytes > limits::find_places_bytes_max; }

    /// `total`: of all rows, where they were not all added. Errors: invalid_argument when it is too deep.
    result<chosen_page> choose(std::optional<std::uint64_t> total) &&;

  private:
    struct token;

    bool is_before(const place_in_order& left, const place_in_order& right) const {
        return x_ascending ? left < right : right < left;
    }
    void keep_first(std::size_t count);
    std::string token_after(const place_in_order&) const;

    sort_key x_key = sort_key::time_updated;
    bool x_ascending = false;
    bool x_wants_all = false;
    bool x_in_order = false;
    std::size_t x_skipped = 0;  // rows of earlier pages
    std::size_t x_limit = 0;
    std::optional<place_in_order> x_after;
    std::string x_asked;  // its digest
    std::vector<place_in_order> x_places;
    std::size_t x_bytes = 0;  // of the places
    std::uint64_t x_total = 0;
};

}  // namespace herald::storage::registry::find
