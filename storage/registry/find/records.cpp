#include "storage/registry/find/records.hpp"

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {

bool has_outcome(const state::state_view& state, const schemas::commands::request_identity& request) {
    return !request.idempotency_key.empty() && tables::kept_outcomes::find(state, request).has_value();
}

schemas::feature_flag feature_flag_of(const state::state_view& state, schemas::flag_name which) {
    const std::string key(schemas::name_of(which));
    return tables::feature_flags::find(state, key).value_or(schemas::feature_flag{});
}

std::vector<named_promotion> newest_promotions(const state::state_view& state,
                                               schemas::workspace_id workspace,
                                               std::optional<schemas::promotion_status> only,
                                               std::size_t most) {
    std::vector<named_promotion> found;
    std::size_t looked_at = 0;
    const auto look = [&](const tables::listed& entry) {
        const auto row = tables::promotions::find(state, schemas::version_id{entry.id});
        if (row && row->status == only.value_or(row->status)) {
            const auto version = tables::versions::find(state, row->model_version_id);
            const auto model =
                version ? tables::models::find(state, version->registered_model_id) : std::nullopt;
            if (model && access::is_there(state, *version))
                found.push_back({*row, model->name, version->version});
        }
        return ++looked_at < limits::promotions_looked_at_max && found.size() < most;
    };
    tables::lists::each(state, tables::row_list::versions_in(workspace, schemas::stage::production),
                        tables::list_order::newest_first, std::nullopt, look);
    return found;
}

schemas::promotion promotion_of(const state::state_view& state, schemas::version_id version) {
    if (auto found = tables::promotions::find(state, version)) return *std::move(found);
    schemas::promotion none;
    none.model_version_id = version;
    return none;
}

}  // namespace herald::storage::registry::find
