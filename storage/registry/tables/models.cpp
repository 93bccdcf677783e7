#include "storage/registry/tables/models.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

key_of name_key(schemas::workspace_id workspace, std::string_view name) {
    return key_of(table::model_by_name).number(workspace).text(name);
}

}  // namespace

template <>
struct description<schemas::registered_model> {
    static constexpr table rows = table::model;
    static auto indexed(const schemas::registered_model& row) { return std::tie(row.workspace_id, row.name); }
    static void index(const schemas::registered_model& row, index_entries& entries) {
        entries.lead(name_key(row.workspace_id, row.name), row.id);
        entries.mark(key_of(table::model_of_workspace).number(row.workspace_id).number(row.id));
    }
    static list_entries listed_in(const schemas::registered_model& row) {
        list_entries entries{{row.time_updated, row.id.value, 0}, {}};
        entries.in.push_back(row_list::models_of(row.workspace_id));
        for (const std::string& label : row.labels)
            entries.in.push_back(row_list::models_labelled(row.workspace_id, label));
        entries.in.push_back(row_list::models_owned_by(row.workspace_id, row.owner));
        entries.sort();
        return entries;
    }
};

template class keyed_table<schemas::registered_model, schemas::model_id>;

std::optional<schemas::model_id> models::named(const state::state_view& state,
                                               schemas::workspace_id workspace, std::string_view name) {
    return id_at<schemas::model_id>(state, name_key(workspace, name));
}

void models::each_of(const state::state_view& state, schemas::workspace_id workspace, schemas::model_id from,
                     const visitor<schemas::model_id>& visit) {
    each_id_under(state, key_of(table::model_of_workspace).number(workspace), from, visit);
}

void models::each_back_of(const state::state_view& state, schemas::workspace_id workspace,
                          schemas::model_id before, const visitor<schemas::model_id>& visit) {
    each_id_back_under(state, key_of(table::model_of_workspace).number(workspace), before, visit);
}

void models::each_name(const state::state_view& state, schemas::workspace_id workspace, name_order order,
                       const std::optional<std::string>& after,
                       const name_visitor<schemas::model_id>& visit) {
    each_name_under<schemas::model_id>(state, key_of(table::model_by_name).number(workspace), order, after,
                                       visit);
}

}  // namespace herald::storage::registry::tables
