// The policies of workspaces: what they demand of stage changes (wire.md "Stage transitions").
#include <algorithm>

#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::stage;

/// Each stage once. Errors: invalid_argument.
result<void> check_stages(std::string_view field, std::vector<stage>& stages) {
    std::vector<stage> kept;
    for (const stage each : stages) {
        if (each == stage::unknown || name_of(each).empty())
            return runtime::invalid_argument(
                {field,
                 " holds UNKNOWN; each must be one of DEVELOPMENT STAGING PRODUCTION ARCHIVED UNASSIGNED"});
        if (std::find(kept.begin(), kept.end(), each) == kept.end()) kept.push_back(each);
    }
    stages = std::move(kept);
    return {};
}

/// What a workspace begins with: nobody else can approve in somebody's own.
std::vector<stage> default_approvals(const state::state_view& state, const schemas::workspace& workspace) {
    if (!workspace.org_id) return {};
    const auto installation = tables::installation::find(state);
    return installation ? installation->require_approval_for : std::vector<stage>();
}

/// Errors: invalid_argument.
result<void> check_policies(schemas::workspace_policies& policies) {
    if (const auto good = check_stages("require_approval_for", policies.require_approval_for); !good)
        return good;
    if (const auto good = check_stages("require_safe_scan_for", policies.require_safe_scan_for); !good)
        return good;
    if (policies.approvals_required == 0 || policies.approvals_required > limits::approvals_required_max)
        return runtime::invalid_argument({"approvals_required is ", policies.approvals_required,
                                          "; it must be 1 to ", limits::approvals_required_max,
                                          "; a stage that needs none is left out of require_approval_for"});
    if (policies.promotion_deadline_seconds > limits::promotion_deadline_seconds_max)
        return runtime::invalid_argument(
            {"promotion_deadline_seconds is ", policies.promotion_deadline_seconds,
             "; it must be 0, for none, to ", limits::promotion_deadline_seconds_max});
    return {};
}

}  // namespace

/// Errors: not_found; permission_denied; invalid_argument.
answer apply(context::rule_context& context, const schemas::commands::set_policies& command) {
    const auto before =
        access::administered_workspace(context.state, context.principal(), command.workspace_name);
    if (!before) return before.error();
    schemas::workspace after = *before;
    after.policies = command.policies;
    if (command.takes_default_approvals)
        after.policies.require_approval_for = default_approvals(context.state, *before);
    if (const auto good = check_policies(after.policies); !good) return good.error();
    std::string encoded = schemas::encode(after.policies);
    if (encoded == schemas::encode(before->policies)) return encoded;
    after.time_updated = context.stamp_ms();
    tables::workspaces::update(context.state, *before, after);
    return encoded;
}

runner runner_of(schemas::commands::command_type type, schemas::commands::policy_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
