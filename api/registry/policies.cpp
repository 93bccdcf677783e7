// The policies of workspaces (wire.md "Stage transitions").
#include "schemas/commands/policies.hpp"
#include "api/calls/rows.hpp"
#include "api/registry/routes.hpp"
#include "schemas/answers/stages.hpp"
#include "schemas/requests/stages.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::registry {
namespace {

using namespace calls::rows;

answered get_policies(calls::reading_call& call) {
    const std::string name = call.path("workspace");
    const auto workspace = storage::registry::access::workspace_named(call.state(), name);
    if (!workspace) return workspace.error();
    if (const auto may = storage::registry::access::require_in(
            call.state(), call.user().id, *workspace, schemas::protected_type::registered_model,
            schemas::action::read, "workspace \"" + name + "\"");
        !may)
        return may.error();
    return call.answer(answers::of(workspace->policies));
}

response put_policies(calls::writing_call& call) {
    auto body = call.body<requests::policies>();
    if (!body) co_return body.error();
    schemas::commands::set_policies command;
    command.workspace_name = call.path("workspace");
    command.takes_default_approvals = !body->require_approval_for;
    if (body->require_approval_for)
        command.policies.require_approval_for = *std::move(body->require_approval_for);
    command.policies.approvals_required = body->approvals_required.value_or(1);
    command.policies.scan_by_others = body->scan_by_others.value_or(!body->require_safe_scan_for.empty());
    command.policies.require_safe_scan_for = std::move(body->require_safe_scan_for);
    command.policies.commit_on_approve = body->commit_on_approve;
    command.policies.promotion_deadline_seconds = body->promotion_deadline_seconds;
    const auto view = [](schemas::workspace_policies row) { return answers::of(std::move(row)); };
    co_return co_await call.write<schemas::workspace_policies>(std::move(command), view);
}

const calls::route policy_table[] = {
    needing(on_models, action::read,
            read<answers::policies>("get_policies", "/api/v1/registry/workspaces/{workspace}/policies",
                                    get_policies, "stages", "What the workspace requires of stage changes")),
    write<requests::policies, answers::policies>(
        "put_policies", http_method::put, "/api/v1/registry/workspaces/{workspace}/policies", put_policies,
        "stages", "Sets all policies; an absent one takes its default"),
};

}  // namespace

std::span<const calls::route> policy_routes() { return policy_table; }

}  // namespace herald::api::registry
