#include "storage/registry/find/promotions.hpp"

#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::find {

schemas::promotion promotion_of(const state::state_view& state, schemas::version_id version) {
    if (auto found = tables::promotions::find(state, version)) return *std::move(found);
    schemas::promotion none;
    none.model_version_id = version;
    return none;
}

}  // namespace herald::storage::registry::find
