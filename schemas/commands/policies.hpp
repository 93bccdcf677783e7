// The policies of workspaces. Numbers 30 to 39, shared with stages.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/identity.hpp"

namespace herald::schemas::commands {

/// Replaces them all. → workspace_policies
struct set_policies {
    static constexpr command_type type{37};

    std::string workspace_name;
    workspace_policies policies;
    /// In place of policies.require_approval_for: what the workspace began with.
    bool takes_default_approvals = false;

    HERALD_DESCRIBE(workspace_name, policies, takes_default_approvals);
};

using policy_commands = command_list<set_policies>;

}  // namespace herald::schemas::commands
