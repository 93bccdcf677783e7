// Model versions (wire.md §3, client_calls.md §3).
#include "api/registry/handlers.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/find.hpp"

namespace herald::api::registry {
namespace {

using calls::answered;
using calls::call;
using calls::ignored_member;
using calls::response;
using schemas::model_version;
using schemas::object_writer;

std::string version_answer(const model_version& version) {
    return object_writer().raw("model_version", schemas::view_of(version)).finish();
}

/// Names of the members that the body has: an update changes only what is there.
std::vector<std::string> members_of(const schemas::json_value& body) {
    std::vector<std::string> names;
    if (const auto* members = body.get_if<schemas::json_object>())
        for (const auto& [name, value] : *members)
            if (!value.is_null()) names.push_back(name);
    return names;
}

/// What Herald sets itself or another call changes. time_updated says what the caller had read, and is not
/// asked for.
std::vector<ignored_member> ignored_members(const schemas::json_value& body, const model_version& sent,
                                            const model_version& kept) {
    std::vector<ignored_member> ignored;
    const auto compare = [&](std::string_view name, const auto& member, const auto& own,
                             std::string_view why = "is set by Herald itself") {
        if (calls::sets_another(body, name, member, own))
            ignored.push_back({std::string(name), std::string(why)});
    };
    compare("id", sent.id, kept.id);
    compare("registered_model_id", sent.registered_model_id, kept.registered_model_id);
    compare("version_number", sent.version_number, kept.version_number);
    compare("time_created", sent.time_created, kept.time_created);
    compare("owner", sent.owner, kept.owner);
    compare("stage", sent.stage, kept.stage, "is changed by POST /api/v1/registry/stage/createTransition");
    compare("lock_level", sent.lock_level, kept.lock_level, "is set at creation");
    compare("experiment_run_id", sent.experiment_run_id, kept.experiment_run_id, "is set at creation");
    compare("redirect_metadata", sent.redirect_metadata, kept.redirect_metadata,
            "is set by an update, when a promotion is complete");
    return ignored;
}

/// An update of `kept` may set redirect_metadata.
std::vector<ignored_member> ignored_by_update(const schemas::json_value& body, const model_version& sent,
                                              model_version kept) {
    kept.redirect_metadata = sent.redirect_metadata;
    return ignored_members(body, sent, kept);
}

/// A strict caller wants to know before anything is changed: the newest row is compared.
calls::task<> refuse_ignored(call& call, const schemas::json_value& body, const model_version& sent,
                             schemas::version_id id) {
    const auto now = co_await calls::read_state(call.with().registry);
    if (!now) co_return now.error();
    const auto kept = storage::registry::access::readable_version(*now->view, call.user().id, id);
    if (!kept) co_return kept.error();
    co_return call.ignore(ignored_by_update(body, sent, kept->row));
}

response update_version(call& call, schemas::commands::update_mode mode) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto version = call.body_as<model_version>(*body);
    if (!version) co_return version.error();
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::update_version command;
    command.id = *id;
    if (call.has_path("model_id")) {
        const auto model = call.path_id<schemas::model_id>("model_id");
        if (!model) co_return model.error();
        command.registered_model_id = *model;
    }
    command.mode = mode;
    command.present = members_of(*body);
    command.version = *std::move(version);
    if (call.is_strict())
        if (const auto good = co_await refuse_ignored(call, *body, command.version, *id); !good)
            co_return good.error();
    const auto outcome = co_await call.submit(command);
    if (!outcome) co_return outcome.error();
    const auto updated = schemas::decode<model_version>(outcome->body);
    if (!updated) co_return updated.error();
    if (!call.is_strict()) (void)call.ignore(ignored_by_update(*body, command.version, *updated));
    co_return call.answer(*outcome, version_answer(*updated));
}

}  // namespace

response create_version(call& call) {
    const auto body = call.json();
    if (!body) co_return body.error();
    auto version = call.body_as<model_version>(*body);
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
    command.version = *std::move(version);
    model_version kept;
    kept.registered_model_id =
        command.registered_model_id ? command.registered_model_id : command.version.registered_model_id;
    kept.owner = call.user().id;
    kept.lock_level = command.version.lock_level;
    kept.experiment_run_id = command.version.experiment_run_id;
    if (const auto good = call.ignore(ignored_members(*body, command.version, kept)); !good)
        co_return good.error();
    const auto outcome = co_await call.submit(command);
    if (!outcome) co_return outcome.error();
    const auto made = schemas::decode<model_version>(outcome->body);
    if (!made) co_return made.error();
    co_return call.answer(*outcome, version_answer(*made));
}

answered get_version(call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const auto found = storage::registry::access::readable_version(call.state(), call.user().id, *id);
    if (!found) return found.error();
    if (call.has_path("model_id")) {
        const auto model = call.path_id<schemas::model_id>("model_id");
        if (!model) return model.error();
        if (*model != found->row.registered_model_id)
            return runtime::not_found("model version " + call.path("version") +
                                      " not found in registered model " + call.path("model_id"));
    }
    return call.answer(version_answer(found->row));
}

answered get_version_by_names(call& call) {
    const storage::registry::state::state_view& state = call.state();
    const auto model = storage::registry::access::readable_model(state, call.user().id,
                                                                 call.path("workspace"), call.path("model"));
    if (!model) return model.error();
    const auto found =
        storage::registry::access::readable_version(state, call.user().id, model->row, call.path("version"));
    if (!found) return found.error();
    return call.answer(version_answer(found->row));
}

answered find_versions(call& call) {
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
    const auto page = storage::registry::find::find_versions(call.state(), call.user().id, *request);
    if (!page) return page.error();
    const auto view = [](const model_version& version) { return schemas::view_of(version); };
    return call.answer(object_writer()
                           .raw("model_versions", schemas::json_list(page->rows, view))
                           .quoted_number("total_records", page->total_records)
                           .finish());
}

response patch_version(call& call) { return update_version(call, schemas::commands::update_mode::merge); }
response put_version(call& call) { return update_version(call, schemas::commands::update_mode::replace); }

}  // namespace herald::api::registry
