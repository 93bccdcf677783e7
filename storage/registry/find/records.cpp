#include "storage/registry/find/records.hpp"

#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::find {

bool has_outcome(const state::state_view& state, const schemas::commands::request_identity& request) {
    return !request.idempotency_key.empty() && tables::kept_outcomes::find(state, request).has_value();
}

schemas::feature_flag feature_flag_of(const state::state_view& state, schemas::flag_name which) {
    const std::string key(schemas::name_of(which));
    return tables::feature_flags::find(state, key).value_or(schemas::feature_flag{});
}

schemas::promotion promotion_of(const state::state_view& state, schemas::version_id version) {
    if (auto found = tables::promotions::find(state, version)) return *std::move(found);
    schemas::promotion none;
    none.model_version_id = version;
    return none;
}

}  // namespace herald::storage::registry::find
