// Builds (wire.md §4).
#include <algorithm>

#include "api/handlers/handlers.hpp"
#include "schemas/views.hpp"
#include "storage/access.hpp"
#include "storage/scan_status.hpp"

namespace herald::api::handlers {
namespace {

using schemas::build;
using schemas::object_writer;

/// A build of an experiment run: Herald keeps none.
struct run_source {
    std::string run_id;
    static void describe(auto& self, auto&& field) { field(1, "run_id", self.run_id); }
};

}  // namespace

response create_build(call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto command = schemas::from_json<schemas::create_build>(*body);
    if (!command) co_return command.error();
    const auto source = schemas::from_json<run_source>(*body);
    if (!source) co_return source.error();
    if (!source->run_id.empty())
        co_return runtime::not_found("experiment run " + source->run_id + " not found");
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

/// Those that the caller may read, newest first (client_calls.md §6).
answered list_builds(call& call) {
    const auto id = call.query_number("model_version_id");
    if (!id) return id.error();
    const storage::state_view& state = call.state();
    const schemas::version_id version{*id};
    const auto readable = storage::readable_version(state, call.user().id, version);
    if (!readable) return readable.error();
    std::vector<build> builds = storage::builds_of(state, version);
    std::erase_if(builds, [&](const build& one) {
        return !storage::readable_build(state, call.user().id, one.id).has_value();
    });
    std::reverse(builds.begin(), builds.end());
    const auto view = [](const build& one) { return schemas::view_of(one); };
    return call.answer(object_writer().raw("builds", schemas::json_list(builds, view)).finish());
}

}  // namespace herald::api::handlers
