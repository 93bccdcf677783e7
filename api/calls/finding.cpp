#include "api/calls/finding.hpp"

#include "runtime/assert.hpp"
#include "runtime/text.hpp"

namespace herald::api::calls {
namespace {

/// Rows are read one after another. Keeps the view that they are in.
class found_pieces final : public answer_pieces {
  public:
    found_pieces(std::shared_ptr<const storage::registry::state::state_view> view, shown_rows rows,
                 std::string text)
        : x_view(std::move(view)), x_rows(std::move(rows)), x_text(std::move(text)) {
        x_rest = x_text.find("[]") + 1;
        HERALD_ASSERT(x_rest != 0);
    }

    result<std::string> next() override {
        std::string piece;
        if (x_is_over) return piece;
        const bool is_begun = std::exchange(x_is_begun, true);
        if (!is_begun) piece = x_text.substr(0, x_rest);
        x_is_over = !x_rows.append(piece, !is_begun);
        if (x_is_over) piece += x_text.substr(x_rest);
        return piece;
    }
    bool is_over() const noexcept override { return x_is_over; }

  private:
    const std::shared_ptr<const storage::registry::state::state_view> x_view;
    const shown_rows x_rows;
    const std::string x_text;  // without rows
    std::size_t x_rest = 0;    // what comes behind them
    bool x_is_begun = false;
    bool x_is_over = false;
};

class sliced_find final : public pieced_answer {
  public:
    sliced_find(reading_call& call, std::shared_ptr<storage::registry::find::any_search> search,
                shown_rows rows)
        : pieced_answer(call, nullptr), x_search(std::move(search)), x_rows(std::move(rows)) {}

  private:
    result<std::unique_ptr<answer_pieces>> choose(slices_of_find& slices) override {
        std::unique_ptr<answer_pieces> pieces;
        if (!slices.go_on(*x_search)) return pieces;
        const auto page = x_search->take();
        if (!page) return page.error();
        if (page->is_cut)
            x_call.warn("these are " + std::to_string(page->ids.size()) + " of " +
                        std::to_string(page->total_records) +
                        " records; ask for the rest with pagination.page_token");
        pieces = std::make_unique<found_pieces>(x_call.reading().view, x_rows, x_rows.without_rows(*page));
        return pieces;
    }

    const std::shared_ptr<storage::registry::find::any_search> x_search;
    const shown_rows x_rows;
};

}  // namespace

result<std::optional<runtime::http::http_response>> pieced_answer::next() {
    const std::optional<runtime::http::http_response> not_yet;
    if (const auto good = x_slices.begin(); !good) return good.error();
    if (!x_pieces) {
        auto chosen = choose(x_slices);
        if (!chosen) return chosen.error();
        if (!*chosen) return not_yet;
        x_pieces = *std::move(chosen);
    }
    while (!x_pieces->is_over() && x_body.size() < limits::find_whole_bytes_max) {
        auto piece = x_pieces->next();
        if (!piece) return piece.error();
        x_body += *piece;
        if (x_slices.is_over() && !x_pieces->is_over()) return not_yet;
    }
    return std::optional(x_call.answer(std::move(x_body)));
}

std::unique_ptr<sliced_answer> in_slices(reading_call& call,
                                         std::shared_ptr<storage::registry::find::any_search> search,
                                         shown_rows rows) {
    return std::make_unique<sliced_find>(call, std::move(search), std::move(rows));
}

result<std::int64_t> number_in_query(const reading_call& call, std::string_view name,
                                     std::int64_t otherwise) {
    const auto text = call.find_query(name);
    if (!text) return otherwise;
    if (name == "page_limit" && *text == "-1") return -1;
    const auto number = runtime::parse_decimal(*text);
    if (!number || *number > static_cast<std::uint64_t>(INT64_MAX))
        return runtime::invalid_argument(
            {"the query parameter ", name, " is \"", *text, "\"; it must be a number"});
    return static_cast<std::int64_t>(*number);
}

result<schemas::pagination> page_in_query(const reading_call& call) {
    schemas::pagination page;
    const auto number = number_in_query(call, "page_number", 1);
    const auto limit = number_in_query(call, "page_limit", 0);
    if (!number) return number.error();
    if (!limit) return limit.error();
    page.page_number = *number;
    page.page_limit = *limit;
    page.page_token = call.query("page_token");
    return page;
}

}  // namespace herald::api::calls
