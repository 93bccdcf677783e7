// Builds (wire.md §4).
#include "schemas/commands/builds.hpp"
#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/calls/tell_read.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/requests/deployment.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/builds.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::build;

response create_build(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::create_build>(*json);
    if (!body) co_return body.error();
    if (!body->model_version_id && body->run_id.empty())
        co_return runtime::invalid_argument(
            "model_version_id is missing; it must be the id of the version to build");
    schemas::commands::create_build command;
    command.workspace_name = call.path("workspace");
    command.model_version_id = body->model_version_id;
    command.external_location = body->external_location;
    static_cast<schemas::build_content&>(command) = *body;
    command.creator_request.text = schemas::to_json_text(*json);
    command.run_id = body->run_id;
    const auto view = [](build made) { return answers::of(std::move(made)); };
    co_return co_await call.write<build>(std::move(command), view);
}

answered get_build(reading_call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const auto found = storage::registry::access::readable_build_in_path(call.state(), call.user().id,
                                                                         call.path("workspace"), *id);
    if (!found) return found.error();
    calls::tell_read(call, found->row);
    return call.answer(answers::of(found->row));
}

response set_build_message(writing_call& call) {
    const auto message = call.text();
    if (!message) co_return message.error();
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) co_return id.error();
    schemas::commands::set_build_message command{*id, *message};
    const auto view = [](build changed) { return answers::of(std::move(changed)); };
    co_return co_await call.write<build>(std::move(command), view);
}

/// The builds that the caller may read, newest first (client_calls.md §6).
slicing list_builds(reading_call& call) {
    const auto id = call.query_number("model_version_id");
    if (!id) return id.error();
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<answers::builds>(
        call,
        storage::registry::find::search_builds(call.state(), call.user().id, schemas::version_id{*id}, *page),
        [](build row) { return answers::of(std::move(row)); });
}

slicing list_builds_of_workspace(reading_call& call) {
    const auto status = calls::named_in_query<schemas::build_status>(call, "status");
    if (!status) return status.error();
    const auto scan_status = calls::named_in_query<schemas::scan_status>(call, "scan_status");
    if (!scan_status) return scan_status.error();
    const auto safety_status = calls::named_in_query<schemas::safety_status>(call, "safety_status");
    if (!safety_status) return safety_status.error();
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<answers::builds>(call,
                                                    storage::registry::find::search_builds_of_workspace(
                                                        call.state(), call.user().id, call.path("workspace"),
                                                        {*status, *scan_status, *safety_status}, *page),
                                                    [](build row) { return answers::of(std::move(row)); });
}

/// The published client calls this when it prints an endpoint, and takes only 403 for "there is none"
/// (wire.md §8).
answered no_kafka(reading_call& call) {
    return runtime::permission_denied(
        {"stage ", call.path("stage"), " reads no topic of Kafka: predictions are asked for over HTTP"});
}

constexpr calls::query_parameter by_version[]{
    {"model_version_id", "the version's id", true, true, schemas::id_schema<schemas::version_id>},
    calls::page_number,
    calls::page_limit,
    calls::page_token};

constexpr calls::query_parameter by_state[]{
    {"status", "building, finished or error", false, false},
    {"scan_status", "of the newest scan: unscanned, scanning, scanned or error", false, false},
    {"safety_status", "unknown, safe, or unsafe, which a build stays", false, false},
    calls::page_number,
    calls::page_limit,
    calls::page_token};

/// The one body that is not an object.
constexpr calls::route with_text(calls::route row) {
    row.body = requests::build_message_schema;
    row.needs_body = true;
    return row;
}

constexpr calls::route absent(calls::route row) {
    row.is_absent = true;
    return row;
}

const calls::route build_table[] = {
    needing_deploy(write<requests::create_build, answers::build>(
        "create_build", http_method::post, "/api/v1/deployment/workspace/{workspace}/builds", create_build,
        "builds", "Registers a build")),
    needing_read_of_either(read<answers::build>("get_build",
                                                "/api/v1/deployment/workspace/{workspace}/builds/{build}",
                                                get_build, "builds", "A build")),
    needing(on_models, action::read,
            list<answers::builds>("list_builds", "/api/v1/deployment/builds", list_builds, "builds",
                                  "Builds of a version, newest first", by_version)),
    needing_read_of_either(list<answers::builds>(
        "list_builds_of_workspace", "/api/v1/deployment/workspace/{workspace}/builds",
        list_builds_of_workspace, "builds", "Builds of a workspace, newest first", by_state)),
    absent(read<answers::done>("get_stage_kafka", "/api/v1/deployment/stages/{stage}/kafka", no_kafka,
                               "builds",
                               "The topics that a stage reads: there are none, so this is always refused")),
    with_text(needing_deploy(write<requests::create_build, answers::build>(
        "set_build_message", http_method::put, "/api/v1/deployment/builds/{build}/message", set_build_message,
        "builds", "Sets the message that people see with the build"))),
};

}  // namespace

std::span<const calls::route> build_routes() { return build_table; }

}  // namespace herald::api::deployment
