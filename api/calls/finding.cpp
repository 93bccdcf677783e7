#include "api/calls/finding.hpp"

#include "runtime/text.hpp"

namespace herald::api::calls {

result<std::int64_t> number_in_query(const reading_call& call, std::string_view name,
                                     std::int64_t otherwise) {
    const auto text = call.find_query(name);
    if (!text) return otherwise;
    if (name == "page_limit" && *text == "-1") return -1;
    const auto number = runtime::parse_decimal(*text);
    if (!number || *number > static_cast<std::uint64_t>(INT64_MAX))
        return runtime::invalid_argument("the query parameter " + std::string(name) + " is \"" + *text +
                                         "\"; it must be a number");
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
