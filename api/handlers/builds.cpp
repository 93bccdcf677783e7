// Builds (wire.md §4).
#include "api/handlers/handlers.hpp"
#include "runtime/limits.hpp"
#include "schemas/views.hpp"
#include "storage/access.hpp"
#include "storage/scan_status.hpp"

namespace herald::api::handlers {
namespace {

using schemas::build;
using schemas::object_writer;

}  // namespace

response create_build(call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto command = schemas::from_json<schemas::create_build>(*body);
    if (!command) co_return command.error();
    if (!command->model_version_id)
        co_return runtime::invalid_argument(
            "model_version_id is missing; it must be the id of the version to build");
    command->workspace_name = call.path("workspace");
    command->creator_request.text = schemas::to_json_text(*body);
    const auto outcome = co_await call.submit(*std::move(command));
    if (!outcome) co_return outcome.error();
    const auto made = schemas::decode<build>(outcome->body);
    if (!made) co_return made.error();
    co_return call.answer(*outcome, schemas::view_of(*made));
}

answered get_build(call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const auto found = storage::readable_build(call.state(), call.user().id, *id);
    if (!found) return found.error();
    if (found->workspace.name != call.path("workspace"))
        return runtime::not_found("build " + call.path("build") + " not found in the workspace \"" +
                                  call.path("workspace") + "\"");
    return call.answer(schemas::view_of(found->row));
}

/// Newest first (client_calls.md §6).
answered list_builds(call& call) {
    const auto id = call.query_number("model_version_id");
    if (!id) return id.error();
    const storage::state_view& state = call.state();
    const schemas::version_id version{*id};
    const auto readable = storage::readable_version(state, call.user().id, version);
    if (!readable) return readable.error();
    std::vector<build> builds = storage::builds_of(state, version, limits::list_rows_max);
    std::vector<build> newest_first(builds.rbegin(), builds.rend());
    const auto view = [](const build& one) { return schemas::view_of(one); };
    return call.answer(object_writer().raw("builds", schemas::json_list(newest_first, view)).finish());
}

}  // namespace herald::api::handlers
