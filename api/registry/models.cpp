// Registered models (wire.md §3, client_calls.md §2).
#include "schemas/answers/models.hpp"
#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/calls/tell_read.hpp"
#include "api/registry/routes.hpp"
#include "api/registry/updates.hpp"
#include "schemas/commands/models.hpp"
#include "schemas/requests/models.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::registry {
namespace {

using namespace calls::rows;
using schemas::registered_model;
using schemas::commands::update_mode;

answers::registered_model model_answer(registered_model model) { return {answers::of(std::move(model))}; }

response create_model(writing_call& call) {
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
    command.model = *std::move(model);
    co_return co_await call.write<registered_model>(std::move(command), model_answer);
}

/// Handles either form of the path: by id, or by workspace and name.
result<storage::registry::access::placed<registered_model>> model_of_path(
    const reading_call& call, const storage::registry::state::state_view& state) {
    using storage::registry::access::readable_model;
    if (call.has_path("model"))
        return readable_model(state, call.user().id, call.path("workspace"), call.path("model"));
    const auto id = call.path_id<schemas::model_id>("model_id");
    if (!id) return id.error();
    return readable_model(state, call.user().id, *id);
}

/// Errors: not_found for a text that cannot be an id.
template <class Command>
result<Command> model_command(const reading_call& call) {
    Command command;
    if (call.has_path("model")) {
        command.workspace_name = call.path("workspace");
        command.model_name = call.path("model");
        return command;
    }
    const auto id = call.path_id<schemas::model_id>("model_id");
    if (!id) return id.error();
    command.id = *id;
    return command;
}

/// `record`: the model in the body.
response submit_update(writing_call& call, const schemas::json_value& record, update_mode mode,
                       std::vector<std::string> members, requests::update_model sent) {
    auto command = model_command<schemas::commands::update_model>(call);
    if (!command) co_return command.error();
    command->mode = mode;
    command->present = std::move(members);
    command->model = std::move(sent);
    co_return co_await write_update<requests::update_model>(call, record, *std::move(command), model_of_path,
                                                            model_answer);
}

response update_model(writing_call& call, update_mode mode) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto sent = call.body_as<requests::update_model>(*body);
    if (!sent) co_return sent.error();
    std::vector<std::string> members = members_of(*body);
    co_return co_await submit_update(call, *body, mode, std::move(members), *std::move(sent));
}

response patch_model(writing_call& call) { return update_model(call, update_mode::merge); }
response put_model(writing_call& call) { return update_model(call, update_mode::replace); }

response patch_model_members(writing_call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto sent = call.body_as<requests::update_model_members>(*body);
    if (!sent) co_return sent.error();
    const schemas::json_value record = record_in(*body, "registered_model");
    auto members = members_to_replace<requests::update_model>(call, record, sent->update_mask);
    if (!members) co_return members.error();
    requests::update_model model = std::move(sent->registered_model);
    co_return co_await submit_update(call, record, update_mode::members, *std::move(members),
                                     std::move(model));
}

response delete_model(writing_call& call) {
    auto command = model_command<schemas::commands::delete_model>(call);
    if (!command) co_return command.error();
    co_return co_await call.write(*std::move(command), answers::done());
}

answered get_model(reading_call& call) {
    const auto found = model_of_path(call, call.state());
    if (!found) return found.error();
    calls::tell_read(call, found->row);
    return call.answer(model_answer(found->row));
}

/// How many rows a find would find.
class sliced_count final : public calls::sliced_answer {
  public:
    sliced_count(reading_call& call, storage::registry::find::search_pointer<registered_model> search)
        : x_call(call), x_slices(call.with().clock), x_search(std::move(search)) {}

    result<std::optional<runtime::http::http_response>> next() override {
        if (const auto good = x_slices.begin(); !good) return good.error();
        if (!x_slices.go_on(*x_search)) return std::optional<runtime::http::http_response>();
        const auto page = x_search->take();
        if (!page) return page.error();
        return std::optional(x_call.answer(answers::count_of_models{page->total_records}));
    }

  private:
    reading_call& x_call;
    calls::slices_of_find x_slices;
    const storage::registry::find::search_pointer<registered_model> x_search;
};

slicing count_models(reading_call& call) {
    schemas::find_request request;
    request.workspace_name = call.query("workspace_name");
    request.pagination.emplace().page_number = 1;
    request.pagination->page_limit = 1;
    auto search = storage::registry::find::search_models(call.state(), call.user().id, request);
    if (!search) return search.error();
    return std::make_unique<sliced_count>(call, *std::move(search));
}

slicing find_models(reading_call& call) {
    auto request = call.body<schemas::find_request>();
    if (!request) return request.error();
    if (call.has_path("workspace")) request->workspace_name = call.path("workspace");
    return calls::answer_in_slices<answers::registered_models>(
        call, storage::registry::find::search_models(call.state(), call.user().id, *request),
        [](registered_model row) { return answers::of(std::move(row)); });
}

constexpr calls::query_parameter of_workspace[]{{"workspace_name", "the workspace's name"}};

const calls::route model_table[] = {
    needing(
        on_models, action::create,
        write<requests::create_model, answers::registered_model>(
            "create_model", http_method::post, "/api/v1/registry/workspaces/{workspace}/registered_models",
            create_model, "models", "Creates a registered model")),
    needing(on_models, action::read,
            read<answers::registered_model>(
                "get_model_by_name", "/api/v1/registry/workspaces/{workspace}/registered_models/{model}",
                get_model, "models", "A model by name")),
    needing(on_models, action::read,
            read<answers::registered_model>("get_model", "/api/v1/registry/registered_models/{model_id}",
                                            get_model, "models", "A model by id")),
    find<schemas::find_request, answers::registered_models>(
        "find_models_of_workspace", "/api/v1/registry/workspaces/{workspace}/registered_models/find",
        find_models, "models", "Finds models of a workspace"),
    find<schemas::find_request, answers::registered_models>(
        "find_all_models", "/api/v1/registry/registered_models/find", find_models, "models",
        "Finds models that the caller may read"),
    list<answers::count_of_models>("count_models", "/api/v1/registry/registered_models/count", count_models,
                                   "models", "How many models a workspace has", of_workspace),
    needing(on_models, action::update,
            write<requests::update_model, answers::registered_model>(
                "patch_model", http_method::patch, "/api/v1/registry/registered_models/{model_id}",
                patch_model, "models", "Changes the fields in the body")),
    needing(on_models, action::update,
            write<requests::update_model, answers::registered_model>(
                "put_model", http_method::put, "/api/v1/registry/registered_models/{model_id}", put_model,
                "models", "Replaces the record")),
    needing(on_models, action::update,
            write<requests::update_model_members, answers::registered_model>(
                "patch_model_members", http_method::patch,
                "/api/v1/registry/registered_models/{model_id}/full_body", patch_model_members, "models",
                "Replaces the members that update_mask names")),
    needing(on_models, action::delete_,
            erase<answers::done>("delete_model", "/api/v1/registry/registered_models/{model_id}",
                                 delete_model, "models", "Deletes a model with its versions")),
    needing(on_models, action::update,
            write<requests::update_model, answers::registered_model>(
                "patch_model_by_name", http_method::patch,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}", patch_model, "models",
                "Changes the fields in the body")),
    needing(on_models, action::update,
            write<requests::update_model, answers::registered_model>(
                "put_model_by_name", http_method::put,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}", put_model, "models",
                "Replaces the record")),
    needing(on_models, action::update,
            write<requests::update_model_members, answers::registered_model>(
                "patch_model_members_by_name", http_method::patch,
                "/api/v1/registry/workspaces/{workspace}/registered_models/{model}/full_body",
                patch_model_members, "models", "Replaces the members that update_mask names")),
    needing(on_models, action::delete_,
            erase<answers::done>("delete_model_by_name",
                                 "/api/v1/registry/workspaces/{workspace}/registered_models/{model}",
                                 delete_model, "models", "Deletes a model with its versions")),
};

}  // namespace

std::span<const calls::route> model_routes() { return model_table; }

}  // namespace herald::api::registry
