#include "storage/registry/tables/outcomes.hpp"

#include <vector>

#include "runtime/crypto.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string row_key(const schemas::commands::request_identity& request) {
    const runtime::sha256_digest digest = runtime::sha256(request.scope + '\0' + request.idempotency_key);
    return key_of(table::outcome).number(request.principal).text(runtime::as_bytes(digest).substr(0, 16));
}

}  // namespace

std::optional<schemas::commands::outcome> kept_outcomes::find(
    const state::state_view& state, const schemas::commands::request_identity& request) {
    return find_row<schemas::commands::outcome>(state, row_key(request));
}

kept_amount kept_outcomes::put(state::state_changes& state,
                               const schemas::commands::request_identity& request, std::uint64_t hour,
                               const schemas::commands::outcome& outcome) {
    const std::string key = row_key(request);
    std::string row = schemas::encode(outcome);
    const kept_amount kept{1, key.size() + row.size()};
    state.put(key, std::move(row));
    put_number(state, key_of(table::outcome_bucket).number(hour).text(key), kept.bytes);
    return kept;
}

kept_amount kept_outcomes::erase_of(state::state_changes& state, std::uint64_t hour, std::size_t rows_max) {
    const std::string prefix = key_of(table::outcome_bucket).number(hour);
    std::vector<std::string> bucket;
    kept_amount erased;
    state.scan(prefix, {}, [&](std::string_view key, std::string_view bytes) {
        bucket.emplace_back(key);
        erased.bytes += read_number(key, bytes);
        return ++erased.rows < rows_max;
    });
    for (const std::string& key : bucket) {
        state.erase(key.substr(prefix.size()));
        state.erase(key);
    }
    return erased;
}

}  // namespace herald::storage::registry::tables
