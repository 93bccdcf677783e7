// What finds of models and of versions have in common.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "api/calls/call.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/find/limits.hpp"

namespace herald::api::registry {

/// Late after limits::find_ms_max from now. The call must outlive it.
inline storage::registry::find::late_check late_find(const calls::reading_call& call) {
    const auto& clock = call.with().clock;
    return [&clock, end_ms = clock.steady_ms() + limits::find_ms_max] { return clock.steady_ms() >= end_ms; };
}

/// All but the rows.
template <class Row, class Answer>
void tell_of_page(calls::reading_call& call, storage::registry::find::found_page<Row>& page, Answer& answer) {
    answer.total_records = page.total_records;
    answer.next_page_token = std::move(page.next_page_token);
    if (page.is_cut)
        call.warn("these are " + std::to_string(page.rows.size()) + " of " +
                  std::to_string(page.total_records) + " records; pagination.page_token asks for the rest");
}

}  // namespace herald::api::registry
