#include "storage/registry/tables/endpoint_updates.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

// What an entry of table::deployed_build is found by.
constexpr std::uint64_t by_version = 1;
constexpr std::uint64_t by_workspace = 2;
constexpr std::uint64_t by_build = 3;

key_of deployed(std::uint64_t by) { return key_of(table::deployed_build).number(by); }

std::array<std::string, 3> deployed_keys(const schemas::build& build, schemas::model_id model,
                                         schemas::endpoint_stage_id stage) {
    return {deployed(by_version).number(model).number(build.model_version_id).number(build.id).number(stage),
            deployed(by_workspace).number(build.workspace_id).number(build.id).number(stage),
            deployed(by_build).number(build.id).number(stage)};
}

/// The number at the end of the first key with the prefix.
std::optional<schemas::endpoint_stage_id> first_stage_under(const state::state_view& state,
                                                            const std::string& prefix) {
    std::optional<schemas::endpoint_stage_id> first;
    state.scan(prefix, {}, [&](std::string_view key, std::string_view) {
        first.emplace(schemas::read_big_endian(key.substr(key.size() - 8)));
        return false;
    });
    return first;
}

}  // namespace

template <>
struct description<schemas::endpoint_update> {
    static constexpr table rows = table::endpoint_update;
};

template class keyed_table<schemas::endpoint_update, schemas::update_id>;

void deployed_builds::put(state::state_changes& state, const schemas::build& build, schemas::model_id model,
                          schemas::endpoint_stage_id stage) {
    for (std::string& key : deployed_keys(build, model, stage)) state.put(std::move(key), std::string());
}

void deployed_builds::erase(state::state_changes& state, const schemas::build& build, schemas::model_id model,
                            schemas::endpoint_stage_id stage) {
    for (std::string& key : deployed_keys(build, model, stage)) state.erase(std::move(key));
}

std::optional<schemas::endpoint_stage_id> deployed_builds::stage_with(const state::state_view& state,
                                                                      schemas::model_id model) {
    return first_stage_under(state, deployed(by_version).number(model));
}

std::optional<schemas::endpoint_stage_id> deployed_builds::stage_with(const state::state_view& state,
                                                                      schemas::model_id model,
                                                                      schemas::version_id version) {
    return first_stage_under(state, deployed(by_version).number(model).number(version));
}

std::optional<schemas::endpoint_stage_id> deployed_builds::stage_with(const state::state_view& state,
                                                                      schemas::workspace_id workspace) {
    return first_stage_under(state, deployed(by_workspace).number(workspace));
}

void deployed_builds::each_stage(const state::state_view& state, schemas::build_id build,
                                 schemas::endpoint_stage_id from,
                                 const visitor<schemas::endpoint_stage_id>& visit) {
    each_id_under(state, deployed(by_build).number(build), from, visit);
}

}  // namespace herald::storage::registry::tables
