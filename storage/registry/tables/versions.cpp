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
    static schemas::version_id key(const schemas::model_version& row) { return row.id; }
    static auto indexed(const schemas::model_version& row) {
        return std::tie(row.registered_model_id, row.version);
    }
    static void index(const schemas::model_version& row, index_entries& entries) {
        entries.lead(name_key(row.registered_model_id, row.version), row.id);
        entries.mark(key_of(table::version_of_model).number(row.registered_model_id).number(row.id));
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

}  // namespace herald::storage::registry::tables
