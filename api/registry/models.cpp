// Registered models (wire.md §3, client_calls.md §2).
#include "api/registry/handlers.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/find.hpp"

namespace herald::api::registry {
namespace {

using calls::answered;
using calls::call;
using calls::ignored_member;
using schemas::object_writer;
using schemas::registered_model;

std::string model_answer(const registered_model& model) {
    return object_writer().raw("registered_model", schemas::view_of(model)).finish();
}

/// What Herald sets itself; `kept` is what it will be.
std::vector<ignored_member> ignored_members(const schemas::json_value& body, const registered_model& sent,
                                            const registered_model& kept) {
    std::vector<ignored_member> ignored;
    const auto compare = [&](std::string_view name, const auto& member, const auto& own) {
        if (calls::sets_another(body, name, member, own))
            ignored.push_back({std::string(name), "is set by Herald itself"});
    };
    compare("id", sent.id, kept.id);
    compare("owner", sent.owner, kept.owner);
    compare("workspace_id", sent.workspace_id, kept.workspace_id);
    compare("time_created", sent.time_created, kept.time_created);
    compare("time_updated", sent.time_updated, kept.time_updated);
    compare("version_number", sent.version_number, kept.version_number);
    return ignored;
}

}  // namespace

calls::response create_model(call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto model = call.body_as<registered_model>(*body);
    if (!model) co_return model.error();
    registered_model kept;
    kept.owner = call.user().id;
    if (model->workspace_id)
        if (const auto workspace =
                storage::registry::access::workspace_named(call.state(), call.path("workspace")))
            kept.workspace_id = workspace->id;
    if (const auto good = call.ignore(ignored_members(*body, *model, kept)); !good) co_return good.error();
    schemas::commands::create_model command;
    command.workspace_name = call.path("workspace");
    command.model = *std::move(model);
    const auto outcome = co_await call.submit(command);
    if (!outcome) co_return outcome.error();
    const auto made = schemas::decode<registered_model>(outcome->body);
    if (!made) co_return made.error();
    co_return call.answer(*outcome, model_answer(*made));
}

answered get_model_by_name(call& call) {
    const auto found = storage::registry::access::readable_model(call.state(), call.user().id,
                                                                 call.path("workspace"), call.path("model"));
    if (!found) return found.error();
    return call.answer(model_answer(found->row));
}

answered get_model(call& call) {
    const auto id = call.path_id<schemas::model_id>("model");
    if (!id) return id.error();
    const auto found = storage::registry::access::readable_model(call.state(), call.user().id, *id);
    if (!found) return found.error();
    return call.answer(model_answer(found->row));
}

answered find_models(call& call) {
    auto request = call.body<schemas::find_request>();
    if (!request) return request.error();
    if (call.has_path("workspace")) request->workspace_name = call.path("workspace");
    const auto page = storage::registry::find::find_models(call.state(), call.user().id, *request);
    if (!page) return page.error();
    const auto view = [](const registered_model& model) { return schemas::view_of(model); };
    return call.answer(object_writer()
                           .raw("registered_models", schemas::json_list(page->rows, view))
                           .quoted_number("total_records", page->total_records)
                           .finish());
}

}  // namespace herald::api::registry
