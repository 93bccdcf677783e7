#include "storage/registry/outcomes/outcomes.hpp"

#include "runtime/assert.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/outcomes/limits.hpp"
#include "storage/registry/tables/counters.hpp"
#include "storage/registry/tables/outcomes.hpp"

namespace herald::storage::registry::outcomes {
namespace {

using context::rule_context;
using context::timer_kind;
using state::state_changes;
using state::state_view;
using tables::counters;
using tables::kept_amount;
using tables::kept_outcomes;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::size_t rows_per_sweep = 400;

constexpr std::string_view kept_counter = "outcomes kept";
constexpr std::string_view bytes_counter = "bytes of outcomes kept";

void add_to(state_changes& state, std::string_view counter, std::uint64_t more) {
    counters::put(state, counter, counters::value(state, counter) + more);
}

void take_from(state_changes& state, std::string_view counter, std::uint64_t less) {
    const std::uint64_t kept = counters::value(state, counter);
    HERALD_ASSERT(kept >= less);
    counters::put(state, counter, kept - less);
}

}  // namespace

std::optional<schemas::commands::outcome> find_outcome(const state_view& state,
                                                       const schemas::commands::request_identity& request) {
    if (request.idempotency_key.empty()) return std::nullopt;
    auto kept = kept_outcomes::find(state, request);
    if (kept && kept->fingerprint != request.fingerprint) {
        schemas::commands::outcome refusal;
        refusal.code = static_cast<std::uint32_t>(error_code::already_exists);
        refusal.message = "the Idempotency-Key \"" + request.idempotency_key +
                          "\" was used for another request within 24 h; use a new key for a new request";
        return refusal;
    }
    return kept;
}

bool is_repeat(const schemas::commands::outcome& found, const schemas::commands::request_identity& request) {
    return found.fingerprint == request.fingerprint;
}

bool has_room_for_outcome(const state_view& state, const schemas::commands::request_identity& request) {
    return request.idempotency_key.empty() ||
           (counters::value(state, kept_counter) < limits::outcome_rows_max &&
            counters::value(state, bytes_counter) < limits::outcome_bytes_max);
}

schemas::commands::outcome keep_outcome(rule_context& context, schemas::commands::outcome outcome) {
    const schemas::commands::request_identity& request = context.command().request;
    if (request.idempotency_key.empty()) return outcome;
    outcome.fingerprint = request.fingerprint;
    const auto hour = static_cast<std::uint64_t>(context.time_ms() / hour_ms);
    const kept_amount kept = kept_outcomes::put(context.state, request, hour, outcome);
    context.set_timer(static_cast<std::int64_t>(hour + 1) * hour_ms + limits::outcome_kept_ms,
                      timer_kind::outcome_sweep, schemas::big_endian(hour));
    add_to(context.state, kept_counter, kept.rows);
    add_to(context.state, bytes_counter, kept.bytes);
    return outcome;
}

void sweep_outcomes(rule_context& context, std::string_view key) {
    const kept_amount erased =
        kept_outcomes::erase_of(context.state, schemas::read_big_endian(key), rows_per_sweep);
    take_from(context.state, kept_counter, erased.rows);
    take_from(context.state, bytes_counter, erased.bytes);
    if (erased.rows == rows_per_sweep) context.set_timer(context.time_ms(), timer_kind::outcome_sweep, key);
}

}  // namespace herald::storage::registry::outcomes
