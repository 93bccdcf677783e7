#include "storage/registry/find/outcomes.hpp"

namespace herald::storage::registry::find {

bool has_outcome(const state::state_view& state, const schemas::commands::request_identity& request) {
    return !request.idempotency_key.empty() && tables::kept_outcomes::find(state, request).has_value();
}

}  // namespace herald::storage::registry::find
