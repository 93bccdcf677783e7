#include "storage/registry/find/audit.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::find {
namespace {

using schemas::audit_row;
using state::state_view;
using tables::audit_rows;

constexpr std::size_t mark_bytes = 8;

audit_row row_at(const state_view& state, std::uint64_t sequence) {
    auto row = audit_rows::find(state, sequence);
    if (!row) throw state::state_corrupt{"a row of the audit is missing"};
    return *std::move(row);
}

/// The first of the kept rows of this time or later; last + 1 when there is none. Their times never go back.
std::uint64_t first_since(const state_view& state, const schemas::audit_head& head, std::int64_t time_ms) {
    std::uint64_t low = head.first, high = head.last + 1;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (row_at(state, middle).time < time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool matches(const audit_row& row, const audit_question& asked) {
    return (!asked.user || row.user_id == *asked.user) &&
           (!asked.workspace || row.workspace_id == *asked.workspace) &&
           (asked.resource_type.empty() || row.resource_type == asked.resource_type) &&
           (asked.resource_id.empty() || row.resource_id == asked.resource_id) &&
           (!asked.is_done || (row.code == 0) == *asked.is_done) && (!asked.code || row.code == *asked.code);
}

/// Which of the matching rows are on the page.
struct page_wanted {
    std::uint64_t skipped = 0;
    std::size_t limit = limits::list_rows_max;
    bool is_all = true;
    std::uint64_t before = UINT64_MAX;  // sequence of the last row of the page before
};

/// What a page_token ends with.
std::string mark_of(const audit_question& asked) {
    const auto digest =
        runtime::sha256(question("audit", asked.since_ms, asked.until_ms, asked.user, asked.workspace,
                                 asked.resource_type, asked.resource_id, asked.is_done, asked.code));
    return "-" + runtime::to_hex(runtime::as_bytes(digest).substr(0, mark_bytes));
}

result<page_wanted> page_of(const audit_question& question) {
    const schemas::pagination& asked = question.page;
    page_wanted out;
    if (const auto good = check_paging(asked); !good) return good.error();
    if (asked.page_limit > 0) {
        out.is_all = false;
        out.limit = static_cast<std::size_t>(asked.page_limit);
        if (asked.page_number > 1)
            out.skipped =
                std::min<std::uint64_t>(static_cast<std::uint64_t>(asked.page_number) - 1, UINT32_MAX) *
                out.limit;
    }
    if (asked.page_token.empty()) return out;
    const std::string_view token = asked.page_token;
    const std::size_t end = std::min(token.find('-'), token.size());
    const auto before = runtime::parse_plain_decimal(token.substr(0, end));
    if (before && token.substr(end) != mark_of(question))
        return runtime::invalid_argument(
            "page_token is of a find that asked for something else; change nothing but the page_token");
    if (!before) return runtime::invalid_argument("page_token is not a next_page_token that a find answered");
    out.before = *before;
    return out;
}

class audit_search final : public search<audit_row> {
  public:
    audit_search(const state_view& state, audit_question asked, page_wanted wanted)
        : x_state(state), x_asked(std::move(asked)), x_wanted(wanted) {
        const schemas::audit_head head = audit_rows::head(state);
        x_begin = first_since(state, head, x_asked.since_ms);
        x_next = x_asked.until_ms > 0 ? first_since(state, head, x_asked.until_ms) : head.last + 1;
    }

    bool go_on(const enough_check& enough) override {
        pace pace(enough);
        while (x_next > x_begin) {
            look_at(row_at(x_state, --x_next));
            if (!pace.pass()) return x_next <= x_begin;
        }
        return true;
    }
    result<chosen_page> take() override {
        if (x_has_more) x_page.next_page_token = std::to_string(x_page.ids.back()) + mark_of(x_asked);
        x_page.is_cut = x_has_more && x_wanted.is_all;
        return x_page;
    }
    std::vector<audit_row> read() override {
        std::vector<audit_row> rows;
        while (x_read < x_page.ids.size() && rows.size() < limits::find_piece_rows_max)
            rows.push_back(row_at(x_state, x_page.ids[x_read++]));
        return rows;
    }

  private:
    void look_at(const audit_row& row) {
        if (!matches(row, x_asked)) return;
        ++x_page.total_records;
        if (x_page.total_records <= x_wanted.skipped || row.sequence >= x_wanted.before) return;
        if (x_page.ids.size() < x_wanted.limit)
            x_page.ids.push_back(row.sequence);
        else
            x_has_more = true;
    }

    const state_view& x_state;
    const audit_question x_asked;
    const page_wanted x_wanted;
    std::uint64_t x_begin = 0;
    std::uint64_t x_next = 0;  // it goes down to x_begin
    chosen_page x_page;
    bool x_has_more = false;
    std::size_t x_read = 0;
};

}  // namespace

result<search_pointer<audit_row>> search_audit(const state_view& state, audit_question asked) {
    const auto wanted = page_of(asked);
    if (!wanted) return wanted.error();
    return search_pointer<audit_row>(std::make_unique<audit_search>(state, std::move(asked), *wanted));
}

schemas::audit_seal unsigned_audit_seal(const state_view& state, std::uint64_t offset) {
    const auto installation = tables::installation::find(state);
    schemas::audit_seal seal;
    seal.log_id = installation->log_id;
    seal.generation = installation->generation;
    seal.offset = offset;
    seal.head = audit_rows::head(state);
    return seal;
}

std::vector<audit_row> audit_rows_from(const state_view& state, const schemas::audit_head& head,
                                       std::uint64_t from, std::size_t rows_max) {
    std::vector<audit_row> rows;
    audit_rows::each(state, from, [&](const audit_row& row) {
        if (row.sequence > head.last) return false;
        rows.push_back(row);
        return rows.size() < rows_max;
    });
    return rows;
}

}  // namespace herald::storage::registry::find
