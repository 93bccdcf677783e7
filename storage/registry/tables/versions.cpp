#include "storage/registry/tables/versions.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

key_of name_key(schemas::model_id model, std::string_view name) {
    return key_of(table::version_by_name).number(model).text(name);
}

}  // namespace

template <>
struct description<schemas::model_version> {
    static constexpr table rows = table::version;
    static auto indexed(const schemas::model_version& row) {
        return std::tie(row.registered_model_id, row.version);
    }
    static void index(const schemas::model_version& row, index_entries& entries) {
        entries.lead(name_key(row.registered_model_id, row.version), row.id);
        entries.mark(key_of(table::version_of_model).number(row.registered_model_id).number(row.id));
    }
    static list_entries listed_in(const schemas::model_version& row) {
        const schemas::workspace_id workspace = row.workspace_id;
        list_entries entries{{row.time_updated, row.id.value, row.registered_model_id.value}, {}};
        std::vector<row_list>& in = entries.in;
        in.reserve(row.labels.size() + 5);
        in.push_back(row_list::versions_of(workspace));
        in.push_back(row_list::versions_of(row.registered_model_id));
        for (const std::string& label : row.labels)
            in.push_back(row_list::versions_labelled(workspace, label));
        if (row.stage != schemas::stage::unassigned)
            in.push_back(row_list::versions_in(workspace, row.stage));
        in.push_back(row_list::versions_owned_by(workspace, row.owner));
        if (!row.experiment_run_id.empty())
            in.push_back(row_list::versions_of_run(workspace, row.experiment_run_id));
        entries.sort();
        return entries;
    }
};

template class keyed_table<schemas::model_version, schemas::version_id>;

std::optional<schemas::version_id> versions::named(const state::state_view& state, schemas::model_id model,
                                                   std::string_view name) {
    return id_at<schemas::version_id>(state, name_key(model, name));
}

void versions::each_of(const state::state_view& state, schemas::model_id model, schemas::version_id from,
                       const visitor<schemas::version_id>& visit) {
    each_id_under(state, key_of(table::version_of_model).number(model), from, visit);
}

void versions::each_back_of(const state::state_view& state, schemas::model_id model,
                            schemas::version_id before, const visitor<schemas::version_id>& visit) {
    each_id_back_under(state, key_of(table::version_of_model).number(model), before, visit);
}

void versions::each_name(const state::state_view& state, schemas::model_id model, name_order order,
                         const std::optional<std::string>& after,
                         const name_visitor<schemas::version_id>& visit) {
    each_name_under<schemas::version_id>(state, key_of(table::version_by_name).number(model), order, after,
                                         visit);
}

}  // namespace herald::storage::registry::tables
