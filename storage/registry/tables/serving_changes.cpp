#include "storage/registry/tables/serving_changes.hpp"

#include <algorithm>

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

schemas::uuid uuid_behind_letter(std::string_view key) {
    schemas::uuid id{};
    std::copy_n(key.begin() + 1, std::min(id.size(), key.size() - 1), id.begin());
    return id;
}

template <class List>
void append_to(List& list, const List& more) {
    list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

serving_changes::serving_changes(const state::row_changes& changes) {
    for (const auto& [key, row] : changes) add(key);
}

void serving_changes::add(std::string_view key) {
    switch (static_cast<table>(key.front())) {
        case table::endpoint:
        case table::stage_of_endpoint:
            return endpoints.push_back(uuid_behind_letter(key));
        case table::endpoint_stage:
        case table::token_of_stage:
            return stages.push_back({number_in_key(key)});
        case table::endpoint_update:
            return updates.push_back({number_in_key(key)});
        case table::build:
            return builds.push_back({number_in_key(key)});
        case table::version:
            return versions.push_back({number_in_key(key)});
        case table::model:
            return models.push_back({number_in_key(key)});
        case table::user:
            return users.push_back({number_in_key(key)});
        default:
            return;
    }
}

serving_changes& serving_changes::operator|=(const serving_changes& more) {
    append_to(endpoints, more.endpoints);
    append_to(stages, more.stages);
    append_to(updates, more.updates);
    append_to(builds, more.builds);
    append_to(unsafe_reports, more.unsafe_reports);
    append_to(versions, more.versions);
    append_to(models, more.models);
    append_to(users, more.users);
    return *this;
}

}  // namespace herald::storage::registry::tables
