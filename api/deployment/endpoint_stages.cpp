// Stages of endpoints, and what happened to them (wire.md §5).
#include <map>

#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/deployment/component_messages.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/limits.hpp"
#include "api/deployment/routes.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/endpoint_records.hpp"
#include "schemas/answers/endpoints.hpp"
#include "schemas/commands/endpoints.hpp"
#include "schemas/requests/endpoints.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/endpoints.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::endpoint_stage;
namespace access = storage::registry::access;
namespace find = storage::registry::find;

response create_endpoint_stage(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::create_endpoint_stage>(*json);
    if (!body) co_return body.error();
    auto command = command_on_endpoint<schemas::commands::create_endpoint_stage>(call);
    if (!command) co_return command.error();
    command->name = body->name;
    command->autocreate_token = body->autocreate_token.value_or(true);
    command->creator_request.text = schemas::to_json_text(*json);
    if (command->autocreate_token) {
        const auto value = minted_token(call.with());
        if (!value) co_return value.error();
        command->token = sealed_token(call.with(), *value);
    }
    const auto view = [](endpoint_stage made) { return answers::of(std::move(made)); };
    co_return co_await call.write<endpoint_stage>(*std::move(command), view);
}

answers::endpoint_stage shown(const reading_call& call, endpoint_stage row) {
    for (schemas::stage_component& each : row.components) each.message = message_of(call, each);
    return answers::of(std::move(row));
}

answered list_endpoint_stages(reading_call& call) {
    const auto found = endpoint_to_show(call);
    if (!found) return found.error();
    answers::endpoint_stages answer;
    for (endpoint_stage& row : find::stages_of(call.state(), found->row.id))
        answer.stages.push_back(shown(call, std::move(row)));
    answer.total_records = answer.stages.size();
    return call.answer(answer);
}

/// What the workspace serves, in one answer: without the bodies of requests an endpoint is small.
answered list_serving(reading_call& call) {
    const std::string name = call.path("workspace");
    const auto workspace = access::workspace_in_path(call.state(), name);
    if (!workspace || !access::is_visible(call.state(), call.user().id, *workspace))
        return runtime::not_found({"workspace \"", name, "\" not found"});
    auto asked = calls::page_in_query(call);
    if (!asked) return asked.error();
    if (asked->page_limit <= 0 || asked->page_limit > limits::served_endpoints_of_page_max)
        asked->page_limit = limits::served_endpoints_of_page_max;
    auto page = find::choose_endpoints(call.state(), call.user().id, *workspace, *asked);
    if (!page) return page.error();
    answers::served_endpoints answer;
    for (schemas::endpoint& row : find::endpoints_of(call.state(), workspace->id, page->after, page->rows)) {
        std::vector<answers::endpoint_stage> stages;
        for (endpoint_stage& each : find::stages_of(call.state(), row.id))
            stages.push_back(shown(call, std::move(each)));
        answer.records.push_back(answers::of(std::move(row), std::move(stages)));
    }
    answer.total_records = page->total_records;
    answer.next_page_token = std::move(page->next_page_token);
    return call.answer(answer);
}

answered get_endpoint_stage(reading_call& call) {
    const auto found = stage_to_show(call);
    if (!found) return found.error();
    return call.answer(shown(call, found->row));
}

answered get_stage_status(reading_call& call) {
    const auto found = stage_to_show(call);
    if (!found) return found.error();
    answers::stage_update_status answer{found->row.update_request};
    if (answer.record.text.empty()) answer.record.text = "{}";
    return call.answer(answer);
}

/// Users who were removed are still known as authors.
std::string username_of(const reading_call& call, schemas::user_id id) {
    const auto user = find::user_with_id(call.state(), id);
    return user ? user->username : std::string();
}

answered get_stage_logs(reading_call& call) {
    const auto found = stage_to_show(call);
    if (!found) return found.error();
    answers::stage_logs answer;
    std::map<schemas::user_id, std::string> names;
    for (schemas::stage_log_entry& each : find::log_of_stage(call.state(), found->row.id)) {
        const auto [author, is_new] = names.try_emplace(each.author_id);
        if (is_new && each.author_id) author->second = username_of(call, each.author_id);
        answer.entries.push_back({each.number, std::move(each.message), runtime::iso8601_ms(each.time_ms),
                                  each.author_id, author->second});
    }
    answer.total_records = answer.entries.size();
    return call.answer(answer);
}

const calls::route endpoint_stage_table[] = {
    needing_deploy_or_update(write<requests::create_endpoint_stage, answers::endpoint_stage>(
        "create_endpoint_stage", http_method::post,
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages", create_endpoint_stage,
        "endpoints", "Makes a stage: a slot that builds are deployed to, with an access token")),
    needing(
        on_endpoints, action::read,
        read<answers::endpoint_stages>("list_endpoint_stages",
                                       "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages",
                                       list_endpoint_stages, "endpoints", "The stages of the endpoint")),
    needing(on_endpoints, action::read,
            list<answers::served_endpoints>(
                "list_serving", "/api/v1/deployment/workspace/{workspace}/serving", list_serving, "endpoints",
                "The workspace's endpoints with their stages, up to 100 on a page", calls::paging)),
    needing(on_endpoints, action::read,
            read<answers::endpoint_stage>(
                "get_endpoint_stage",
                "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}",
                get_endpoint_stage, "endpoints", "A stage: which builds it serves, with which shares")),
    needing(on_endpoints, action::read,
            read<answers::stage_update_status>(
                "get_endpoint_stage_status",
                "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/status",
                get_stage_status, "endpoints", "The body of the stage's newest update")),
    needing(on_endpoints, action::read,
            list<answers::stage_logs>(
                "get_endpoint_stage_logs",
                "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/logs",
                get_stage_logs, "endpoints", "What happened to the stage, an entry a step")),
};

}  // namespace

std::span<const calls::route> endpoint_stage_routes() { return endpoint_stage_table; }

}  // namespace herald::api::deployment
