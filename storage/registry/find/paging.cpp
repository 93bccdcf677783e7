#include "storage/registry/find/paging.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::storage::registry::find {
namespace {

constexpr std::size_t places_spare = 1'024;
constexpr std::size_t question_digest_bytes = 8;

std::size_t bytes_of(const place_in_order& place) {
    static const std::size_t inside = std::string().capacity();
    return sizeof(place) + (place.name.capacity() > inside ? place.name.capacity() + 1 : 0);
}

result<sort_key> sort_key_of(const std::string& name) {
    if (name == "name" || name == "version") return sort_key::name;
    if (name == "time_created") return sort_key::time_created;
    if (name == "time_updated" || name.empty()) return sort_key::time_updated;
    return runtime::invalid_argument(
        {"sort_key is \"", name, "\"; it must be name, version, time_created or time_updated"});
}

}  // namespace

result<void> check_paging(const schemas::pagination& paging) {
    if (paging.page_number < 0)
        return runtime::invalid_argument({"page_number is ", paging.page_number, "; it must be 1 or more"});
    const std::string limit = std::to_string(paging.page_limit);
    if (paging.page_limit < -1)
        return runtime::invalid_argument(
            {"page_limit is ", limit, "; it must be 1 to ", limits::page_limit_max, ", or -1 for all"});
    if (paging.page_limit > 0 && static_cast<std::size_t>(paging.page_limit) > limits::page_limit_max)
        return runtime::invalid_argument({"page_limit is ", limit, "; at most ", limits::page_limit_max});
    if (!paging.page_token.empty() && paging.page_number > 1)
        return runtime::invalid_argument(
            {"there are a page_token and the page_number ", paging.page_number, "; give one of them"});
    return {};
}

/// The content of a page_token: the last row of the page before, its order, and the digest of its find.
struct page_of_rows::token {
    std::uint32_t key = 0;
    bool ascending = false;
    place_in_order after;
    std::string asked;

    HERALD_DESCRIBE(key, ascending, after, asked);
};

result<page_of_rows> page_of_rows::of(const schemas::find_request& request, std::string_view asked) {
    page_of_rows page;
    page.x_asked = runtime::as_bytes(runtime::sha256(asked)).substr(0, question_digest_bytes);
    const auto key = sort_key_of(request.sort_key);
    if (!key) return key.error();
    page.x_key = *key;
    page.x_ascending = request.ascending;
    // Clients send unset members as zeros.
    const schemas::pagination paging = request.pagination.value_or(schemas::pagination{});
    if (const auto good = check_paging(paging); !good) return good.error();
    page.x_wants_all = paging.page_limit <= 0;
    page.x_limit = page.x_wants_all ? limits::list_rows_max : static_cast<std::size_t>(paging.page_limit);
    if (!page.x_wants_all && paging.page_number > 1) {
        const auto pages = static_cast<std::uint64_t>(paging.page_number) - 1;
        page.x_skipped = std::min<std::uint64_t>(pages, UINT32_MAX) * page.x_limit;
    }
    if (paging.page_token.empty()) return page;
    const auto bytes = runtime::from_base64(paging.page_token);
    auto last = bytes ? schemas::decode<token>(*bytes) : result<token>(bytes.error());
    if (!last || last->after.id == 0)
        return runtime::invalid_argument("page_token is not a next_page_token that a find answered");
    if (last->key != static_cast<std::uint32_t>(page.x_key) || last->ascending != page.x_ascending)
        return runtime::invalid_argument(
            "page_token is of a find with another sort_key or ascending; change nothing but the page_token");
    if (last->asked != page.x_asked)
        return runtime::invalid_argument(
            "page_token is of a find that asked for something else; change nothing but the page_token");
    page.x_after = std::move(last->after);
    return page;
}

place_in_order page_of_rows::place_of(std::uint64_t id, std::string_view name,
                                      std::int64_t time_updated) const {
    place_in_order place;
    place.id = id;
    if (x_key == sort_key::name) place.name = name;
    if (x_key == sort_key::time_updated) place.time_ms = time_updated;
    return place;
}

void page_of_rows::add(place_in_order place) {
    ++x_total;
    if (!is_behind_token(place) || is_too_deep()) return;
    if (x_in_order && x_skipped > 0) {
        --x_skipped;
        return;
    }
    x_bytes += bytes_of(place);
    x_places.push_back(std::move(place));
    const std::size_t wanted = x_skipped + x_limit + 1;  // one more shows that there is a next page
    if (x_places.size() >= wanted + wanted / 4 + places_spare) keep_first(wanted);
    if (is_too_deep()) x_places = {};
}

/// In no order.
void page_of_rows::keep_first(std::size_t count) {
    if (x_places.size() <= count) return;
    const auto end = x_places.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(x_places.begin(), end, x_places.end(),
                     [this](const auto& left, const auto& right) { return is_before(left, right); });
    for (auto each = end; each != x_places.end(); ++each) x_bytes -= bytes_of(*each);
    x_places.erase(end, x_places.end());
}

std::string page_of_rows::token_after(const place_in_order& last) const {
    token out;
    out.key = static_cast<std::uint32_t>(x_key);
    out.ascending = x_ascending;
    out.after = last;
    out.asked = x_asked;
    return runtime::to_base64(schemas::encode(out));
}

result<chosen_page> page_of_rows::choose(std::optional<std::uint64_t> total) && {
    if (is_too_deep())
        return runtime::invalid_argument(
            {"so deep a page, behind ", x_skipped,
             " records, cannot be found by its number in this order; go on from page to page with "
             "pagination.page_token, or add a predicate"});
    chosen_page out;
    out.total_records = total.value_or(x_total);
    keep_first(x_skipped + x_limit + 1);
    const auto first = x_places.begin() + static_cast<std::ptrdiff_t>(std::min(x_skipped, x_places.size()));
    const auto is_first = [this](const auto& left, const auto& right) { return is_before(left, right); };
    std::nth_element(x_places.begin(), first, x_places.end(), is_first);
    std::sort(first, x_places.end(), is_first);
    const std::size_t end = std::min(x_places.size(), x_skipped + x_limit);
    for (std::size_t i = x_skipped; i < end; ++i) out.ids.push_back(x_places[i].id);
    if (out.ids.empty() || x_places.size() == end) return out;
    out.next_page_token = token_after(x_places[end - 1]);
    out.is_cut = x_wants_all;
    return out;
}

}  // namespace herald::storage::registry::find
