#include "storage/registry/tables/deletions.hpp"

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

using state::state_changes;
using state::state_view;

std::string model_key(schemas::model_id id) { return key_of(table::deleted_model).number(id); }

std::string version_key(schemas::version_id id) { return key_of(table::deleted_version).number(id); }

template <schemas::numeric_id Id>
std::optional<Id> first_of(const state_view& state, table which, Id from) {
    std::optional<Id> first;
    state.scan(std::string(key_of(which)), std::string(key_of(which).number(from)),
               [&](std::string_view key, std::string_view) {
                   first.emplace(number_in_key(key));
                   return false;
               });
    return first;
}

}  // namespace

void deleted_models::put(state_changes& state, schemas::model_id id, schemas::version_id next) {
    put_number(state, model_key(id), next.value);
}

schemas::version_id deleted_models::next_version(const state_view& state, schemas::model_id id) {
    return schemas::version_id{find_number(state, model_key(id)).value_or(0)};
}

void deleted_models::erase(state_changes& state, schemas::model_id id) { state.erase(model_key(id)); }

bool deleted_models::has(const state_view& state, schemas::model_id id) {
    return has_row(state, model_key(id));
}

std::optional<schemas::model_id> deleted_models::first(const state_view& state, schemas::model_id from) {
    return first_of(state, table::deleted_model, from);
}

void deleted_versions::put(state_changes& state, schemas::version_id id, const removal_place& next) {
    put_row(state, version_key(id), next);
}

void deleted_versions::erase(state_changes& state, schemas::version_id id) { state.erase(version_key(id)); }

removal_place deleted_versions::place_of(const state_view& state, schemas::version_id id) {
    return find_row<removal_place>(state, version_key(id)).value_or(removal_place{});
}

std::optional<schemas::version_id> deleted_versions::first(const state_view& state,
                                                           schemas::version_id from) {
    return first_of(state, table::deleted_version, from);
}

}  // namespace herald::storage::registry::tables
