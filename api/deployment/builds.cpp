// Builds (wire.md §4).
#include <algorithm>

#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/requests/deployment.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/builds.hpp"

namespace herald::api::deployment {
namespace {

using calls::answered;
using calls::reading_call;
using calls::writing_call;
using schemas::build;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

calls::response create_build(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::create_build>(*json);
    if (!body) co_return body.error();
    if (!body->run_id.empty())  // Herald keeps no experiment runs
        co_return runtime::not_found("experiment run " + body->run_id + " not found");
    if (!body->model_version_id)
        co_return runtime::invalid_argument(
            "model_version_id is missing; it must be the id of the version to build");
    schemas::commands::create_build command;
    command.workspace_name = call.path("workspace");
    command.model_version_id = body->model_version_id;
    command.external_location = body->external_location;
    command.upstream_url = body->upstream_url;
    command.requires_root = body->requires_root;
    command.scan_external = body->scan_external;
    command.self_contained = body->self_contained;
    command.uses_flask = body->uses_flask;
    command.creator_request.text = schemas::to_json_text(*json);
    const auto view = [](build made) { return answers::of(std::move(made)); };
    co_return co_await call.write<build>(std::move(command), view);
}

answered get_build(reading_call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const auto found =
        storage::registry::access::readable_build(call.state(), call.user().id, call.path("workspace"), *id);
    if (!found) return found.error();
    return call.answer(answers::of(found->row));
}

/// The builds that the caller may read, newest first (client_calls.md §6).
answered list_builds(reading_call& call) {
    const auto id = call.query_number("model_version_id");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const schemas::version_id version{*id};
    const auto readable = storage::registry::access::readable_version(state, call.user().id, version);
    if (!readable) return readable.error();
    std::vector<build> builds = storage::registry::find::readable_builds(state, call.user().id, version);
    std::reverse(builds.begin(), builds.end());
    answers::builds found;
    for (build& row : builds) found.builds_.push_back(answers::of(std::move(row)));
    found.total_records = found.builds_.size();
    return call.answer(found);
}

constexpr calls::query_parameter by_version[]{{"model_version_id", "the version's id", true}};

using namespace calls::rows;

const calls::route table[] = {
    needing(on_endpoints, action::deploy,
            write<requests::create_build, answers::build>("create_build", http_method::post,
                                                          "/api/v1/deployment/workspace/{workspace}/builds",
                                                          create_build, "builds", "Registers a build")),
    needing(on_endpoints, action::read,
            read<answers::build>("get_build", "/api/v1/deployment/workspace/{workspace}/builds/{build}",
                                 get_build, "builds", "A build")),
    needing(on_models, action::read,
            list<answers::builds>("list_builds", "/api/v1/deployment/builds", list_builds, "builds",
                                  "Builds of a version, newest first", by_version)),
};

}  // namespace

std::span<const calls::route> build_routes() { return table; }

}  // namespace herald::api::deployment
