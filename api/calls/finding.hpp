// Answers to finds, in slices. Each slice holds a thread for a moment, and no answer is in memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/calls/call.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::api::calls {

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
    template <class Search>
    bool go_on(Search& search) {
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

    result<std::optional<runtime::http::http_response>> next() override;
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

/// How the rows of a search are shown.
struct shown_rows {
    /// The text of an answer whose first member is the list of rows: an empty one.
    std::string (*without_rows)(const storage::registry::find::chosen_page&);
    /// Appends the next rows of the page; false: it has no more.
    std::function<bool(std::string& out, bool is_first)> append;
};
std::unique_ptr<sliced_answer> in_slices(reading_call&, std::shared_ptr<storage::registry::find::any_search>,
                                         shown_rows);

/// The query parameter as a number. Errors: invalid_argument.
result<std::int64_t> number_in_query(const reading_call&, std::string_view name, std::int64_t otherwise);

/// The page that a GET asks for. Errors: invalid_argument for anything but a number.
result<schemas::pagination> page_in_query(const reading_call&);
inline constexpr query_parameter page_number{"page_number", "counted from 1; in place of page_token", true,
                                             false};
inline constexpr query_parameter page_limit{"page_limit", "records in a page, 1 to 1000", true, false};
inline constexpr query_parameter page_token{"page_token", "next_page_token of the page before", false, false};
inline constexpr query_parameter paging[]{page_number, page_limit, page_token};

/// One of the enum's names; empty without the parameter. Errors: invalid_argument.
template <class Enum>
result<std::optional<Enum>> named_in_query(const reading_call& call, std::string_view name) {
    const auto text = call.find_query(name);
    if (!text) return std::optional<Enum>();
    const auto value = schemas::from_name<Enum>(*text);
    if (value) return std::optional(*value);
    return runtime::invalid_argument(
        {name, " is \"", *text, "\"; it must be ",
         schemas::requests::detail::names_of_enum(schemas::numbered_names<Enum>,
                                                  schemas::requests::detail::zero_of_enum::a_value)});
}

/// What a handler returns for a search; `view` makes the shown form of a row. Errors: those of the search's
/// beginning.
template <class Answer, class Row, class View>
result<std::unique_ptr<sliced_answer>> answer_in_slices(
    reading_call& call, result<storage::registry::find::search_pointer<Row>> begun, View view) {
    if (!begun) return begun.error();
    const std::shared_ptr<storage::registry::find::search<Row>> search = *std::move(begun);
    const auto without_rows = [](const storage::registry::find::chosen_page& page) {
        Answer answer;
        answer.total_records = page.total_records;
        answer.next_page_token = page.next_page_token;
        return schemas::answers::text_of(answer);
    };
    const auto append = [search, view](std::string& out, bool is_first) {
        auto rows = search->read();
        for (Row& row : rows) {
            if (!std::exchange(is_first, false)) out += ',';
            schemas::detail::json_writer{out, schemas::style_of<Answer>()}.write(view(std::move(row)));
        }
        return !rows.empty();
    };
    return in_slices(call, search, {without_rows, append});
}

}  // namespace herald::api::calls
