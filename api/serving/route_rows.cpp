#include "api/serving/route_rows.hpp"

#include <utility>

#include "schemas/json.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::api::serving {
namespace {

namespace tables = storage::registry::tables;
using storage::registry::state::state_view;

/// What the author of its container wrote; empty if that cannot be used.
std::string health_path_of(const schemas::model_version& version) {
    const auto metadata = schemas::parse_json(version.docker_metadata.text);
    if (!metadata) return {};
    const schemas::json_value* const path = metadata->find("health_path");
    const std::string* const text = path ? path->get_if<std::string>() : nullptr;
    return text && text->starts_with('/') ? *text : std::string();
}

route_rows::component component_of(const state_view& state, const schemas::stage_component& said) {
    route_rows::component out;
    out.said = said;
    const auto build = tables::builds::find(state, said.build_id);
    if (!build) return out;
    out.build = *build;
    const auto version = tables::versions::find(state, build->model_version_id);
    if (!version) return out;
    out.version_name = version->version;
    out.version_number = version->version_number;
    out.health_path = health_path_of(*version);
    const auto model = tables::models::find(state, version->registered_model_id);
    if (!model) return out;
    out.model = model->id;
    out.model_name = model->name;
    return out;
}

std::vector<schemas::access_token> tokens_of(const state_view& state, schemas::endpoint_stage_id stage) {
    std::vector<schemas::access_token> out;
    tables::access_tokens::each_of(state, stage, {}, [&](schemas::access_token_id id) {
        if (auto token = tables::access_tokens::find(state, id)) out.push_back(*std::move(token));
        return true;
    });
    return out;
}

}  // namespace

std::optional<route_rows> rows_of(const state_view& state, const schemas::uuid& endpoint) {
    auto row = tables::endpoints::find(state, endpoint);
    if (!row) return std::nullopt;
    route_rows out;
    out.row = *std::move(row);
    if (const auto owner = tables::users::find(state, out.row.owner_id)) {
        out.owner_uuid = owner->user_uuid;
        out.owner_name = owner->username;
    }
    tables::endpoint_stages::each_of(state, endpoint, {}, [&](schemas::endpoint_stage_id id) {
        auto found = tables::endpoint_stages::find(state, id);
        if (!found) return true;
        route_rows::stage& stage = out.stages.emplace_back();
        stage.row = *std::move(found);
        for (const schemas::stage_component& each : stage.row.components)
            stage.components.push_back(component_of(state, each));
        stage.tokens = tokens_of(state, id);
        if (stage.row.update_id) stage.update = tables::endpoint_updates::find(state, stage.row.update_id);
        return true;
    });
    return out;
}

}  // namespace herald::api::serving
