// Registered models (wire.md §3, client_calls.md §2).
#include "schemas/answers/models.hpp"
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/registry/finding.hpp"
#include "api/registry/routes.hpp"
#include "schemas/requests/models.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::registry {
namespace {

using calls::answered;
using calls::reading_call;
using calls::writing_call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;
using schemas::registered_model;

answers::registered_model model_answer(registered_model model) { return {answers::of(std::move(model))}; }

calls::response create_model(writing_call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto model = call.body_as<requests::create_model>(*body);
    if (!model) co_return model.error();
    answers::model kept;
    kept.owner = kept.owner_id = call.user().id;
    if (const auto workspace =
            storage::registry::access::workspace_named(call.state(), call.path("workspace")))
        kept.workspace_id = kept.workspace_service_id = workspace->id;
    if (const auto good = call.ignore_owned<requests::create_model>(*body, kept); !good)
        co_return good.error();
    schemas::commands::create_model command;
    command.workspace_name = call.path("workspace");
    command.model = requests::content_of(*std::move(model));
    co_return co_await call.write<registered_model>(std::move(command), model_answer);
}

answered get_model_by_name(reading_call& call) {
    const auto found = storage::registry::access::readable_model(call.state(), call.user().id,
                                                                 call.path("workspace"), call.path("model"));
    if (!found) return found.error();
    return call.answer(model_answer(found->row));
}

answered get_model(reading_call& call) {
    const auto id = call.path_id<schemas::model_id>("model_id");
    if (!id) return id.error();
    const auto found = storage::registry::access::readable_model(call.state(), call.user().id, *id);
    if (!found) return found.error();
    return call.answer(model_answer(found->row));
}

answered find_models(reading_call& call) {
    auto request = call.body<schemas::find_request>();
    if (!request) return request.error();
    if (call.has_path("workspace")) request->workspace_name = call.path("workspace");
    auto page = storage::registry::find::find_models(call.state(), call.user().id, *request, late_find(call));
    if (!page) return page.error();
    answers::registered_models found;
    tell_of_page(call, *page, found);
    for (registered_model& row : page->rows) found.registered_models_.push_back(answers::of(std::move(row)));
    return call.answer(found);
}

using namespace calls::rows;

const calls::route table[] = {
    needing(
        on_models, action::create,
        write<requests::create_model, answers::registered_model>(
            "create_model", http_method::post, "/api/v1/registry/workspaces/{workspace}/registered_models",
            create_model, "models", "Creates a registered model")),
    needing(on_models, action::read,
            read<answers::registered_model>(
                "get_model_by_name", "/api/v1/registry/workspaces/{workspace}/registered_models/{model}",
                get_model_by_name, "models", "A model by name")),
    needing(on_models, action::read,
            read<answers::registered_model>("get_model", "/api/v1/registry/registered_models/{model_id}",
                                            get_model, "models", "A model by id")),
    find<schemas::find_request, answers::registered_models>(
        "find_models_of_workspace", "/api/v1/registry/workspaces/{workspace}/registered_models/find",
        find_models, "models", "Finds models of a workspace"),
    find<schemas::find_request, answers::registered_models>(
        "find_all_models", "/api/v1/registry/registered_models/find", find_models, "models",
        "Finds models that the caller may read"),
};

}  // namespace

std::span<const calls::route> model_routes() { return table; }

}  // namespace herald::api::registry
