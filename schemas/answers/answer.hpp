// Every answer is a described type, made from rows by its function `of`. It writes 64-bit integers as texts;
// one of the deployment dialect writes them as numbers and says so:
//
//     static constexpr integers style = integers::as_numbers;
#pragma once

#include <algorithm>

#include "schemas/json_codec.hpp"

namespace herald::schemas::answers {

template <described T>
std::string text_of(const T& value) {
    return to_json_object(value, style_of<T>());
}

template <std::size_t N>
struct member_name {
    char text[N];
    consteval member_name(const char (&name)[N]) { std::copy_n(name, N, text); }
};

/// A record under its name. Each such answer is a struct of its own: the OpenAPI document names it.
template <member_name Name, class Record, integers Style = integers::as_strings>
struct one {
    Record record;

    using shown_inline = one;
    static constexpr integers style = Style;
    static constexpr void describe(auto& self, auto&& field) { field(1, Name.text, self.record); }
};

/// A page of a list, whose records stand under Name. Each kind of page is a struct of its own, too.
template <member_name Name, class Record, integers Style = integers::as_strings>
struct page {
    std::vector<Record> records;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    using shown_inline = page;
    static constexpr integers style = Style;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, Name.text, self.records);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

/// {}: there is nothing to say.
struct done {
    static constexpr void describe(auto&, auto&&) {}
};

/// The body of every refusal (wire.md "Errors").
struct failure {
    std::string error;
    std::uint32_t code = 0;
    std::string message;
    std::vector<json_text> details;

    HERALD_DESCRIBE(error, code, message, details);
};

}  // namespace herald::schemas::answers
