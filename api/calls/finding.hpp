// Answers to finds, in slices. Each slice holds a thread for a moment, and no answer is in memory as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/calls/call.hpp"
#include "runtime/assert.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::api::calls {

/// All but the `shown` rows.
template <class Page, class Answer>
void tell_of_page(reading_call& call, Page& page, std::size_t shown, Answer& answer) {
    answer.total_records = page.total_records;
    answer.next_page_token = std::move(page.next_page_token);
    if (page.is_cut)
        call.warn("these are " + std::to_string(shown) + " of " + std::to_string(page.total_records) +
                  " records; ask for the rest with pagination.page_token");
}

/// The text of an answer whose first member is the list of rows. Rows are read one after another. Keeps the
/// view that they are in. `View` makes the shown form of a row.
template <class Row, class Answer, class View>
class found_pieces final : public answer_pieces {
  public:
    /// `answer`: all of it but the rows.
    found_pieces(std::shared_ptr<const storage::registry::state::state_view> view,
                 storage::registry::find::search_pointer<Row> search, const Answer& answer)
        : x_view(std::move(view)), x_search(std::move(search)), x_text(schemas::answers::text_of(answer)) {
        x_rest = x_text.find("[]") + 1;
        HERALD_ASSERT(x_rest != 0);
    }

    result<std::string> next() override {
        std::string piece;
        if (x_is_over) return piece;
        if (!std::exchange(x_is_begun, true)) piece = x_text.substr(0, x_rest);
        auto rows = x_search->read();
        for (Row& row : rows) {
            if (std::exchange(x_has_rows, true)) piece += ',';
            schemas::detail::json_writer{piece, schemas::style_of<Answer>()}.write(View()(std::move(row)));
        }
        x_is_over = rows.empty();
        if (x_is_over) piece += x_text.substr(x_rest);
        return piece;
    }
    bool is_over() const noexcept override { return x_is_over; }

  private:
    const std::shared_ptr<const storage::registry::state::state_view> x_view;
    const storage::registry::find::search_pointer<Row> x_search;
    const std::string x_text;  // without rows
    std::size_t x_rest = 0;    // what comes behind them
    bool x_is_begun = false;
    bool x_has_rows = false;
    bool x_is_over = false;
};

/// Slices of limits::find_slice_ms_max or limits::find_slice_rows_max rows. A find ends late
/// limits::find_ms_max after its second slice began: before that it may have waited for its turn.
class slices_of_find {
  public:
    explicit slices_of_find(const runtime::clock& clock) : x_clock(clock) {}

    /// Errors: too_long().
    result<void> begin() {
        x_begin_ms = x_clock.steady_ms();
        x_rows = 0;
        if (++x_slices == 2) x_end_ms = x_begin_ms + limits::find_ms_max;
        if (x_begin_ms >= x_end_ms) return storage::registry::find::too_long();
        return {};
    }
    bool is_over() const { return x_clock.steady_ms() - x_begin_ms >= limits::find_slice_ms_max; }
    /// False while the search is not done.
    template <class Row>
    bool go_on(storage::registry::find::search<Row>& search) {
        return search.go_on([this] {
            x_rows += limits::find_rows_between_looks;
            return x_rows >= limits::find_slice_rows_max || is_over();
        });
    }

  private:
    const runtime::clock& x_clock;
    std::size_t x_slices = 0;
    std::size_t x_rows = 0;  // looked at in this slice
    std::int64_t x_begin_ms = 0;
    std::int64_t x_end_ms = INT64_MAX;
};

/// An answer of pieces, made in slices; one with more than limits::find_whole_bytes_max is sent piece by
/// piece.
class pieced_answer : public sliced_answer {
  public:
    pieced_answer(reading_call& call, std::unique_ptr<answer_pieces> pieces)
        : x_call(call), x_slices(call.with().clock), x_pieces(std::move(pieces)) {}

    result<std::optional<runtime::http::http_response>> next() override {
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
    std::unique_ptr<answer_pieces> rest() override {
        if (x_pieces->is_over()) return nullptr;
        return std::move(x_pieces);
    }

  protected:
    /// Makes the pieces of an answer that began without them; null: there is more to do.
    virtual result<std::unique_ptr<answer_pieces>> choose(slices_of_find&) {
        return std::unique_ptr<answer_pieces>();
    }

    reading_call& x_call;

  private:
    slices_of_find x_slices;
    std::unique_ptr<answer_pieces> x_pieces;
    std::string x_body;
};

/// A find whose answer is a page of rows.
template <class Row, class Answer, class View>
class sliced_find final : public pieced_answer {
  public:
    sliced_find(reading_call& call, storage::registry::find::search_pointer<Row> search)
        : pieced_answer(call, nullptr), x_search(std::move(search)) {}

  private:
    result<std::unique_ptr<answer_pieces>> choose(slices_of_find& slices) override {
        std::unique_ptr<answer_pieces> pieces;
        if (!slices.go_on(*x_search)) return pieces;
        auto page = x_search->take();
        if (!page) return page.error();
        Answer answer;
        tell_of_page(x_call, *page, page->ids.size(), answer);
        pieces = std::make_unique<found_pieces<Row, Answer, View>>(x_call.reading().view, std::move(x_search),
                                                                   answer);
        return pieces;
    }

    storage::registry::find::search_pointer<Row> x_search;  // until the page is chosen
};

/// The query parameter as a number. Errors: invalid_argument.
result<std::int64_t> number_in_query(const reading_call&, std::string_view name, std::int64_t otherwise);

/// The page that a GET asks for. Errors: invalid_argument for anything but a number.
result<schemas::pagination> page_in_query(const reading_call&);
inline constexpr query_parameter page_number{"page_number", "counted from 1; in place of page_token", true,
                                             false};
inline constexpr query_parameter page_limit{"page_limit", "records in a page, 1 to 1000", true, false};
inline constexpr query_parameter page_token{"page_token", "next_page_token of the page before", false, false};
inline constexpr query_parameter paging[]{page_number, page_limit, page_token};

/// What a handler returns for a search; `View` has no state. Errors: those of the search's beginning.
template <class Answer, class Row, class View>
result<std::unique_ptr<sliced_answer>> answer_in_slices(
    reading_call& call, result<storage::registry::find::search_pointer<Row>> search, View) {
    if (!search) return search.error();
    return std::make_unique<sliced_find<Row, Answer, View>>(call, *std::move(search));
}

}  // namespace herald::api::calls
