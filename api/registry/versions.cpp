// The names of members in the body: an update changes only those.
#include "schemas/answers/versions.hpp"
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/registry/finding.hpp"
#include "api/registry/routes.hpp"
#include "schemas/requests/versions.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::registry {
namespace {

using calls::answered;
using calls::reading_call;
using calls::response;
using calls::writing_call;
using schemas::model_version;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

answers::model_version version_answer(model_version version) { return {answers::of(std::move(version))}; }

/// Names of the members that the body has: an update changes only what is there.
std::vector<std::string> members_of(const schemas::json_value& body) {
    std::vector<std::string> names;
    if (const auto* members = body.get_if<schemas::json_object>())
        for (const auto& [name, value] : *members)
            if (!value.is_null()) names.push_back(name);
    return names;
}

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

/// A strict caller must be told before anything is changed, so the newest row is compared.
calls::task<> refuse_ignored(writing_call& call, const schemas::json_value& body) {
    const auto now = co_await calls::read_state(call.with().registry, call.limit());
    if (!now) co_return now.error();
    const auto kept = version_of_path(call, *now->view);
    if (!kept) co_return kept.error();
    co_return call.ignore_owned<requests::update_version>(body, answers::of(kept->row));
}

/// Errors: not_found for a text that cannot be an id.
result<schemas::commands::update_version> update_of_path(const reading_call& call) {
    schemas::commands::update_version command;
    if (call.has_path("version_or_name")) {
        command.workspace_name = call.path("workspace");
        command.model_name = call.path("model");
        command.version_or_name = call.path("version_or_name");
        return command;
    }
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const auto model = call.path_id<schemas::model_id>("model_id");
    if (!model) return model.error();
    command.id = *id;
    command.registered_model_id = *model;
    return command;
}

response update_version(writing_call& call, schemas::commands::update_mode mode) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto version = call.body_as<requests::update_version>(*body);
    if (!version) co_return version.error();
    auto command = update_of_path(call);
    if (!command) co_return command.error();
    command->mode = mode;
    command->present = members_of(*body);
    command->version = requests::content_of(*std::move(version));
    if (call.is_strict())
        if (const auto good = co_await refuse_ignored(call, *body); !good) co_return good.error();
    const auto view = [&](model_version updated) {
        answers::model_version answer = version_answer(std::move(updated));
        if (!call.is_strict())
            (void)call.ignore_owned<requests::update_version>(*body, answer.model_version_);
        return answer;
    };
    co_return co_await call.write<model_version>(*std::move(command), view);
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
    command.version = requests::content_of(*std::move(version));
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
    return call.answer(version_answer(found->row));
}

answered find_versions(reading_call& call) {
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
        request->workspace_name = call.path("workspace");
    }
    auto page =
        storage::registry::find::find_versions(call.state(), call.user().id, *request, late_find(call));
    if (!page) return page.error();
    answers::model_versions found;
    tell_of_page(call, *page, found);
    for (model_version& row : page->rows) found.model_versions_.push_back(answers::of(std::move(row)));
    return call.answer(found);
}

response patch_version(writing_call& call) {
    return update_version(call, schemas::commands::update_mode::merge);
}
response put_version(writing_call& call) {
    return update_version(call, schemas::commands::update_mode::replace);
}

using namespace calls::rows;

const calls::route table[] = {
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
};

}  // namespace

std::span<const calls::route> version_routes() { return table; }

}  // namespace herald::api::registry
