// Which of the rows that a find call matched are on its page (wire.md §1), in bounded memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/find.hpp"

namespace herald::storage::registry::find {

/// Where a row stands in the order that was asked for: by its sort key, then by its id. One of `name` and
/// `time_ms` is the sort key.
struct place_in_order {
    std::string name;
    std::int64_t time_ms = 0;
    std::uint64_t id = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "name", self.name);
        field(2, "time_ms", self.time_ms);
        field(3, "id", self.id);
    }
    friend auto operator<=>(const place_in_order&, const place_in_order&) = default;
};

enum class sort_key : std::uint8_t { time_updated, time_created, name };

/// Takes the places of matching rows in any order, and holds no more than the pages up to the one asked for.
class page_of_rows {
  public:
    /// Errors: invalid_argument for a sort_key, page_limit or page_token that cannot be used.
    static result<page_of_rows> of(const schemas::find_request&);

    void add(std::uint64_t id, const std::string& name, std::int64_t time_created, std::int64_t time_updated);

    struct chosen {
        std::vector<std::uint64_t> ids;  // in order
        std::uint64_t total = 0;
        std::string next_page_token;
        bool is_cut = false;
    };
    chosen choose() &&;

  private:
    struct token;

    bool is_before(const place_in_order& left, const place_in_order& right) const {
        return x_ascending ? left < right : right < left;
    }
    void sort_first(std::size_t count);
    std::string token_after(const place_in_order&) const;

    sort_key x_key = sort_key::time_updated;
    bool x_ascending = false;
    bool x_wants_all = false;
    std::size_t x_skipped = 0;  // rows of earlier pages
    std::size_t x_limit = 0;
    std::optional<place_in_order> x_after;
    std::vector<place_in_order> x_places;
    std::uint64_t x_total = 0;
};

}  // namespace herald::storage::registry::find
