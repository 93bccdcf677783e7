#include "storage/registry/outcomes/outcomes.hpp"

#include "runtime/assert.hpp"
#include "runtime/crypto.hpp"
#include "storage/registry/outcomes/limits.hpp"

namespace herald::storage::registry::outcomes {
namespace {

using context::rule_context;
using context::timer_kind;
using state::state_changes;
using state::state_view;
using tables::find_number;
using tables::key_of;
using tables::put_number;
using tables::table;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::size_t rows_per_sweep = 400;

const std::string kept_counter = key_of(table::counter).text("outcomes kept");
const std::string bytes_counter = key_of(table::counter).text("bytes of outcomes kept");

std::string row_key(const schemas::commands::request_identity& request) {
    const runtime::sha256_digest digest = runtime::sha256(request.scope + '\0' + request.idempotency_key);
    return key_of(table::outcome).number(request.principal).text(runtime::as_bytes(digest).substr(0, 16));
}

void add_to(state_changes& state, const std::string& counter, std::uint64_t more) {
    put_number(state, counter, find_number(state, counter).value_or(0) + more);
}

void take_from(state_changes& state, const std::string& counter, std::uint64_t less) {
    const std::uint64_t kept = find_number(state, counter).value_or(0);
    HERALD_ASSERT(kept >= less);
    put_number(state, counter, kept - less);
}

std::string hour_text(std::uint64_t hour) {
    std::string text;
    schemas::append_big_endian(text, hour);
    return text;
}

}  // namespace

std::optional<schemas::commands::outcome> find_outcome(const state_view& state,
                                                       const schemas::commands::request_identity& request) {
    if (request.idempotency_key.empty()) return std::nullopt;
    auto kept = tables::find_row<schemas::commands::outcome>(state, row_key(request));
    if (kept && kept->fingerprint != request.fingerprint) {
        schemas::commands::outcome refusal;
        refusal.code = static_cast<std::uint32_t>(error_code::already_exists);
        refusal.message = "the Idempotency-Key \"" + request.idempotency_key +
                          "\" was used for another request within 24 h; use a new key for a new request";
        return refusal;
    }
    return kept;
}

bool has_room_for_outcome(const state_view& state, const schemas::commands::request_identity& request) {
    return request.idempotency_key.empty() ||
           (find_number(state, kept_counter).value_or(0) < limits::outcome_rows_max &&
            find_number(state, bytes_counter).value_or(0) < limits::outcome_bytes_max);
}

schemas::commands::outcome keep_outcome(rule_context& context, schemas::commands::outcome outcome) {
    const schemas::commands::request_identity& request = context.command().request;
    if (request.idempotency_key.empty()) return outcome;
    outcome.fingerprint = request.fingerprint;
    const std::string key = row_key(request);
    std::string row = schemas::encode(outcome);
    const std::uint64_t bytes = key.size() + row.size();
    context.state.put(key, std::move(row));
    const auto hour = static_cast<std::uint64_t>(context.time_ms() / hour_ms);
    put_number(context.state, key_of(table::outcome_bucket).number(hour).text(key), bytes);
    context.set_timer(static_cast<std::int64_t>(hour + 1) * hour_ms + limits::outcome_kept_ms,
                      timer_kind::outcome_sweep, hour_text(hour));
    add_to(context.state, kept_counter, 1);
    add_to(context.state, bytes_counter, bytes);
    return outcome;
}

void sweep_outcomes(rule_context& context, std::string_view key) {
    const std::string prefix = key_of(table::outcome_bucket).text(key);
    std::vector<std::string> found;
    std::uint64_t bytes = 0;
    context.state.scan(prefix, {}, [&](std::string_view row, std::string_view size) {
        found.emplace_back(row);
        std::uint64_t of_row = 0;
        schemas::take_varint(size, of_row);
        bytes += of_row;
        return found.size() < rows_per_sweep;
    });
    for (const std::string& bucket_row : found) {
        context.state.erase(bucket_row.substr(prefix.size()));
        context.state.erase(bucket_row);
    }
    take_from(context.state, kept_counter, found.size());
    take_from(context.state, bytes_counter, bytes);
    if (found.size() == rows_per_sweep) context.set_timer(context.time_ms(), timer_kind::outcome_sweep, key);
}

}  // namespace herald::storage::registry::outcomes
