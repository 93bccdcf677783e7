// Workspaces, as who may see them (wire.md §2, client_calls.md §1).
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using calls::answered;
using calls::reading_call;
namespace answers = schemas::answers;

result<schemas::workspace> visible(const storage::registry::state::state_view& state, schemas::user_id user,
                                   std::optional<schemas::workspace> found, const std::string& what) {
    if (found && storage::registry::access::is_visible(state, user, *found)) return *std::move(found);
    return runtime::not_found("workspace " + what + " not found");
}

std::optional<schemas::workspace> named(const storage::registry::state::state_view& state,
                                        const std::string& name) {
    auto found = storage::registry::access::workspace_named(state, name);
    if (!found) return std::nullopt;
    return *std::move(found);
}

answered get_workspace_by_id(reading_call& call) {
    const auto id = call.query_number("id");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id,
                               storage::registry::access::find_workspace(state, schemas::workspace_id{*id}),
                               std::to_string(*id));
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

answered get_workspace_by_name(reading_call& call) {
    const std::string name = call.query("name");
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id, named(state, name), "\"" + name + "\"");
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

answered get_visible_workspaces(reading_call& call) {
    auto seen = storage::registry::find::visible_workspaces(call.state(), call.user().id);
    answers::workspaces answer;
    for (schemas::workspace& row : seen) answer.workspace.push_back(answers::of(std::move(row)));
    answer.total_records = seen.size();
    return call.answer(answer);
}

constexpr calls::query_parameter by_id[]{{"id", "the workspace's id", true}};
constexpr calls::query_parameter by_name[]{{"name", "the workspace's name"}};

using namespace calls::rows;

const calls::route table[] = {
    read<answers::workspace>("get_workspace_by_id", "/api/v1/uac-proxy/workspace/getWorkspaceById",
                             get_workspace_by_id, "workspaces", "A workspace by id", by_id),
    read<answers::workspace>("get_workspace_by_name", "/api/v1/uac-proxy/workspace/getWorkspaceByName",
                             get_workspace_by_name, "workspaces", "A workspace by name", by_name),
    list<answers::workspaces>("get_visible_workspaces", "/api/v1/uac-proxy/workspace/getVisibleWorkspaces",
                              get_visible_workspaces, "workspaces", "What the caller sees"),
};

}  // namespace

std::span<const calls::route> workspace_routes() { return table; }

}  // namespace herald::api::identity
