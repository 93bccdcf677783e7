// Model versions (wire.md §3, client_calls.md §3).
#include "schemas/answers/versions.hpp"
#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/calls/tell_read.hpp"
#include "api/registry/routes.hpp"
#include "api/registry/updates.hpp"
#include "schemas/commands/versions.hpp"
#include "schemas/requests/versions.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::registry {
namespace {

using namespace calls::rows;
using schemas::model_version;
using schemas::commands::update_mode;

answers::model_version version_answer(model_version version) { return {answers::of(std::move(version))}; }

/// Handles either form of the path: by ids, or by workspace, model and the version's id or name.
result<storage::registry::access::placed<model_version>> version_of_path(
    const reading_call& call, const storage::registry::state::state_view& state) {
    using storage::registry::access::readable_version;
    const schemas::user_id user = call.user().id;
    if (call.has_path("version_or_name")) {
        const auto model = storage::registry::access::readable_model(state, user, call.path("workspace"),
                                                                     call.path("model"));
        if (!model) return model.error();
        return readable_version(state, user, model->row, call.path("version_or_name"));
    }
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    if (!call.has_path("model_id")) return readable_version(state, user, *id);
    const auto model = call.path_id<schemas::model_id>("model_id");
    if (!model) return model.error();
    return readable_version(state, user, *model, *id);
}

/// Errors: not_found for a text that cannot be an id.
template <class Command>
result<Command> version_command(const reading_call& call) {
    Command command;
    if (call.has_path("version_or_name")) {
        command.workspace_name = call.path("workspace");
        command.model_name = call.path("model");
        command.version_or_name = call.path("version_or_name");
        return command;
    }
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    command.id = *id;
    if (!call.has_path("model_id")) return command;
    const auto model = call.path_id<schemas::model_id>("model_id");
    if (!model) return model.error();
    command.registered_model_id = *model;
    return command;
}

response update_version(writing_call& call, update_mode mode) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto version = call.body_as<requests::update_version>(*body);
    if (!version) co_return version.error();
    auto command = version_command<schemas::commands::update_version>(call);
    if (!command) co_return command.error();
    command->mode = mode;
    command->present = members_of(*body);
    command->time_updated = version->time_updated;
    command->redirect_metadata = std::move(version->redirect_metadata);
    command->version = *std::move(version);
    co_return co_await write_update<requests::update_version>(call, *body, *std::move(command),
                                                              version_of_path, version_answer);
}

response patch_version_members(writing_call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto sent = call.body_as<requests::update_version_members>(*body);
    if (!sent) co_return sent.error();
    const schemas::json_value record = record_in(*body, "model_version");
    auto members = members_to_replace<requests::update_version>(call, record, sent->update_mask);
    if (!members) co_return members.error();
    auto update = version_command<schemas::commands::update_version>(call);
    if (!update) co_return update.error();
    update->mode = update_mode::members;
    if (std::ranges::count(*members, "redirect_metadata") > 0)
        update->redirect_metadata = std::move(sent->model_version.redirect_metadata);
    update->time_updated = sent->model_version.time_updated;
    update->version = std::move(sent->model_version);
    update->present = *std::move(members);
    schemas::commands::update_version_members command{*std::move(update)};
    co_return co_await write_update<requests::update_version>(call, record, std::move(command),
                                                              version_of_path, version_answer);
}

/// A call that logs what a version is made of: `Log` is its body, `member` the one that it logs.
template <class Log>
response log_parts(writing_call& call, std::string member) {
    auto body = call.body<Log>();
    if (!body) co_return body.error();
    auto update = version_command<schemas::commands::update_version>(call);
    if (!update) co_return update.error();
    if (body->model_version_id && body->model_version_id != update->id)
        co_return runtime::invalid_argument({"model_version_id is ", body->model_version_id.value,
                                             ", but the path names model version ", update->id.value});
    update->mode = update_mode::merge;
    update->present.push_back(std::move(member));
    update->version = requests::content_of_log(*std::move(body));
    schemas::commands::log_version_parts command{*std::move(update)};
    co_return co_await call.write<model_version>(std::move(command), version_answer);
}

response log_datasets(writing_call& call) { return log_parts<requests::log_datasets>(call, "datasets"); }
response log_code(writing_call& call) { return log_parts<requests::log_code>(call, "code_blob_map"); }
response log_attributes(writing_call& call) {
    return log_parts<requests::log_attributes>(call, "attributes");
}
response log_docker_metadata(writing_call& call) {
    return log_parts<requests::log_docker_metadata>(call, "docker_metadata");
}

response lock_version(writing_call& call, requests::lock_version body) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::lock_version command{*id, body.lock_level};
    co_return co_await call.write(std::move(command), answers::done());
}

response delete_version(writing_call& call) {
    auto command = version_command<schemas::commands::delete_version>(call);
    if (!command) co_return command.error();
    co_return co_await call.write(*std::move(command), answers::done());
}

response create_version(writing_call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto version = call.body_as<requests::create_version>(*body);
    if (!version) co_return version.error();
    schemas::commands::create_version command;
    if (call.has_path("model_id")) {
        const auto model = call.path_id<schemas::model_id>("model_id");
        if (!model) co_return model.error();
        command.registered_model_id = *model;
    } else {
        command.workspace_name = call.path("workspace");
        command.model_name = call.path("model");
    }
    command.lock_level = version->lock_level;
    command.experiment_run_id = std::move(version->experiment_run_id);
    command.version = *std::move(version);
    answers::version kept;
    kept.registered_model_id = command.registered_model_id;
    if (!kept.registered_model_id)
        if (const auto model = storage::registry::access::readable_model(
                call.state(), call.user().id, command.workspace_name, command.model_name))
            kept.registered_model_id = model->row.id;
    kept.owner = call.user().id;
    if (const auto good = call.ignore_owned<requests::create_version>(*body, kept); !good)
        co_return good.error();
    co_return co_await call.write<model_version>(std::move(command), version_answer);
}

answered get_version(reading_call& call) {
    const auto found = version_of_path(call, call.state());
    if (!found) return found.error();
    calls::tell_read(call, found->row);
    return call.answer(version_answer(found->row));
}

/// Whatever model the body names, only versions in the workspace of the path are found.
void find_within(schemas::find_request& request, const std::string& workspace) {
    request.workspace_name = workspace;
    if (!request.id) return;
    if (request.id->registered_model_id) {
        request.predicates.push_back({"registered_model_id",
                                      {std::to_string(request.id->registered_model_id.value)},
                                      schemas::find_operator::eq});
        request.id.reset();
    } else if (request.id->named_id) {
        request.id->named_id->workspace_name = workspace;
    }
}

slicing find_versions(reading_call& call) {
    auto request = call.body<schemas::find_request>();
    if (!request) return request.error();
    if (call.has_path("model_id")) {
        const auto model = call.path_id<schemas::model_id>("model_id");
        if (!model) return model.error();
        request->id.emplace().registered_model_id = *model;
    } else if (call.has_path("model")) {
        schemas::named_id& named = request->id.emplace().named_id.emplace();
        named.workspace_name = call.path("workspace");
        named.name = call.path("model");
    } else if (call.has_path("workspace")) {
        find_within(*request, call.path("workspace"));
    }
    return calls::answer_in_slices<answers::model_versions>(
        call, storage::registry::find::search_versions(call.state(), call.user().id, *request),
        [](model_version row) { return answers::of(std::move(row)); });
}

response patch_version(writing_call& call) { return update_version(call, update_mode::merge); }
response put_version(writing_call& call) { return update_version(call, update_mode::replace); }

const calls::route version_table[] = {
    needing(on_models, action::create,
            write<requests::create_version, answers::model_version>(
                "create_version", http_method::post,
                "/api/v1/registry/registered_models/{model_id}/model_versions", create_version, "versions",
                "Creates a version")),
    needing(on_models, action::create,
            write<requests::create_version, answers::model_version>(
                "create_version_by_names", http_method::post,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions",
                create_version, "versions", "Creates a version")),
    needing(on_models, action::read,
            read<answers::model_version>("get_version", "/api/v1/registry/model_versions/{version}",
                                         get_version, "versions", "A version by id")),
    needing(
        on_models, action::read,
        read<answers::model_version>("get_version_of_model",
                                     "/api/v1/registry/registered_models/{model_id}/model_versions/{version}",
                                     get_version, "versions", "A version by id")),
    needing(on_models, action::read,
            read<answers::model_version>("get_version_by_names",
                                         "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/"
                                         "model_versions/{version_or_name}",
                                         get_version, "versions", "A version by names")),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_of_model", "/api/v1/registry/registered_models/{model_id}/model_versions/find",
        find_versions, "versions", "Finds versions of a model"),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_by_names",
        "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/find",
        find_versions, "versions", "Finds versions of a model"),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_of_workspace", "/api/v1/registry/workspaces/{workspace}/model_versions/find",
        find_versions, "versions", "Finds versions of a workspace"),
    find<schemas::find_request, answers::model_versions>(
        "find_all_versions", "/api/v1/registry/model_versions/find", find_versions, "versions",
        "Finds versions that the caller may read"),
    needing(on_models, action::update,
            write<requests::update_version, answers::model_version>(
                "patch_version", http_method::patch,
                "/api/v1/registry/registered_models/{model_id}/model_versions/{version}", patch_version,
                "versions", "Changes the fields in the body; completes a promotion by redirect_metadata")),
    needing(on_models, action::update,
            write<requests::update_version, answers::model_version>(
                "put_version", http_method::put,
                "/api/v1/registry/registered_models/{model_id}/model_versions/{version}", put_version,
                "versions", "Replaces the record; completes a promotion by redirect_metadata")),

    needing(on_models, action::update,
            write<requests::update_version, answers::model_version>(
                "patch_version_by_names", http_method::patch,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/"
                "{version_or_name}",
                patch_version, "versions",
                "Changes the fields in the body; completes a promotion by redirect_metadata")),
    needing(on_models, action::update,
            write<requests::update_version, answers::model_version>(
                "put_version_by_names", http_method::put,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/"
                "{version_or_name}",
                put_version, "versions", "Replaces the record; completes a promotion by redirect_metadata")),
    needing(on_models, action::update,
            write<requests::update_version_members, answers::model_version>(
                "patch_version_members", http_method::patch,
                "/api/v1/registry/registered_models/{model_id}/model_versions/{version}/full_body",
                patch_version_members, "versions", "Replaces the members that update_mask names")),
    needing(on_models, action::update,
            write<requests::update_version_members, answers::model_version>(
                "patch_version_members_by_names", http_method::patch,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/"
                "{version_or_name}/full_body",
                patch_version_members, "versions", "Replaces the members that update_mask names")),
    needing(on_models, action::delete_,
            erase<answers::done>("delete_version", "/api/v1/registry/model_versions/{version}",
                                 delete_version, "versions", "Deletes a version")),
    needing(on_models, action::delete_,
            erase<answers::done>("delete_version_of_model",
                                 "/api/v1/registry/registered_models/{model_id}/model_versions/{version}",
                                 delete_version, "versions", "Deletes a version")),
    needing(on_models, action::delete_,
            erase<answers::done>("delete_version_by_names",
                                 "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/"
                                 "model_versions/{version_or_name}",
                                 delete_version, "versions", "Deletes a version")),
    needing(on_models, action::update,
            write<lock_version, answers::done>(
                "lock_version", http_method::put, "/api/v1/registry/model_versions/{version}/lock",
                "versions", "Sets the lock level: what may still be changed, and who may")),
    needing(on_models, action::update,
            write<requests::log_datasets, answers::model_version>(
                "log_datasets", http_method::post, "/api/v1/registry/model_versions/{version}/logDatasets",
                log_datasets, "versions", "Adds datasets, by key")),
    needing(on_models, action::update,
            write<requests::log_code, answers::model_version>(
                "log_code", http_method::post,
                "/api/v1/registry/model_versions/{version}/logCodeBlobInModelVersion", log_code, "versions",
                "Adds code, by name")),
    needing(
        on_models, action::update,
        write<requests::log_attributes, answers::model_version>(
            "log_attributes", http_method::post, "/api/v1/registry/model_versions/{version}/logAttributes",
            log_attributes, "versions", "Adds attributes, by key")),
    needing(on_models, action::update,
            write<requests::log_docker_metadata, answers::model_version>(
                "log_docker_metadata", http_method::post,
                "/api/v1/registry/model_versions/{version}/logDockerMetadata", log_docker_metadata,
                "versions", "Sets the container's port and paths")),
};

}  // namespace

std::span<const calls::route> version_routes() { return version_table; }

}  // namespace herald::api::registry
